"""What an operator may add to a command before confirming it."""

from typing import Any

from django import forms

from generation.commands import edit, limits
from generation.commands.retry import Which
from generation.commands.scopes import WINDOW_MOST, WINDOW_SCENES
from generation.exceptions import GenerationError
from generation.models import Scene
from generation.stages import StageName


class StagesForm(forms.Form):
    stages = forms.MultipleChoiceField(
        choices=StageName.choices, required=False, widget=forms.CheckboxSelectMultiple, help_text="None means all."
    )


class RebuildForm(forms.Form):
    rebuild_all = forms.BooleanField(
        required=False,
        label="Also regenerate what is ready",
        help_text="Current files stay until the new ones are finished.",
    )


class RegenerateForm(StagesForm, RebuildForm):
    pass


class RetryForm(StagesForm):
    which = forms.ChoiceField(choices=Which.choices, initial=Which.BOTH)


class WindowForm(StagesForm):
    count = forms.IntegerField(min_value=1, max_value=WINDOW_MOST, initial=WINDOW_SCENES, label="Scenes")


class WhyForm(forms.Form):
    why = forms.CharField(max_length=200, required=False, initial="")


class PauseForm(StagesForm, WhyForm):
    pass


class QuotaForm(forms.Form):
    quota = forms.IntegerField(
        min_value=0,
        max_value=limits.QUOTA_MOST,
        initial=1,
        help_text="Assets of the stage at once, everywhere.",
    )


class TimeoutForm(forms.Form):
    stage = forms.ChoiceField(choices=StageName.choices, initial=StageName.VIDEO)
    minutes = forms.IntegerField(
        min_value=limits.TIMEOUT_LEAST_MIN,
        max_value=limits.TIMEOUT_MOST_MIN,
        required=False,
        help_text="Empty for the stage's own.",
    )


class LayerForm(forms.Form):
    stage = forms.ChoiceField(choices=StageName.choices, initial=StageName.AUDIO)
    enabled = forms.TypedChoiceField(
        choices=[("on", "On"), ("off", "Off")], coerce=lambda value: value == "on", initial="on"
    )


class VoicesForm(forms.Form):
    voice = forms.CharField(
        max_length=40, required=False, initial="", help_text="Empty for the language's own. The README lists voices."
    )
    speed_percent = forms.IntegerField(
        min_value=edit.SPEED_LEAST, max_value=edit.SPEED_MOST, initial=100, label="Speed in %"
    )


class WholeText(forms.CharField):
    """Text as it was typed: blanks at its ends belong to it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**(options | {"strip": False}))


class SceneForm(forms.ModelForm[Scene]):
    """The text of a scene. What the command would refuse is refused here, beside the field."""

    class Meta:
        model = Scene
        fields = ("text",)
        field_classes = {"text": WholeText}

    def clean_text(self) -> str:
        text = str(self.cleaned_data["text"])
        try:
            edit.plan_text(edit.TextRequest(self.instance.pk, text))
        except GenerationError as error:
            raise forms.ValidationError(str(error), code=error.code) from error
        return text
