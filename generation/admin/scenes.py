"""Chapters and scenes: their text, and the commands on some of them."""

from functools import partial
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from generation import words
from generation.commands import delete, edit, placeholder, priority, regenerate
from generation.commands.answers import Actor
from generation.commands.scopes import Scope
from generation.exceptions import GenerationError
from generation.models import Chapter, ImageUnit, Scene

from .actions import CommandAction, by_book
from .forms import RegenerateForm, SceneForm, StagesForm, VoicesForm
from .readonly import OperatedAdmin, ReadOnlyAdmin


def _subject(book: Any, scene_pks: tuple[int, ...]) -> str:
    return f"{book.title}, {words.amount(len(scene_pks), 'scene')}"


def _requests(make: Any, scenes: Any, data: Any) -> Any:
    return [(_subject(book, pks), make(book.pk, pks, data)) for book, pks in by_book(scenes)]


REGENERATE = CommandAction(
    "Regenerate",
    "operate",
    partial(
        _requests,
        lambda book_pk, pks, data: regenerate.Request(
            book_pk, tuple(data["stages"] or ()), Scope.SELECTION, pks, rebuild_all=bool(data["rebuild_all"])
        ),
    ),
    regenerate.plan,
    regenerate.apply,
    words.queued,
    form=RegenerateForm,
)
PRIORITY = CommandAction(
    "Move to front",
    "operate",
    partial(
        _requests,
        lambda book_pk, pks, data: priority.Request(book_pk, tuple(data["stages"] or ()), Scope.SELECTION, pks),
    ),
    priority.plan,
    priority.apply,
    words.moved,
    form=StagesForm,
)
PLACEHOLDER = CommandAction(
    "Fill with placeholders",
    "operate",
    partial(
        _requests,
        lambda book_pk, pks, data: placeholder.Request(book_pk, tuple(data["stages"] or ()), Scope.SELECTION, pks),
    ),
    placeholder.plan,
    placeholder.apply,
    words.filled,
    form=StagesForm,
)
VOICES = CommandAction(
    "Set voices",
    "change",
    partial(
        _requests,
        lambda book_pk, pks, data: edit.VoicesRequest(
            book_pk, data["voice"], data["speed_percent"], Scope.SELECTION, pks
        ),
    ),
    edit.plan_voices,
    edit.apply_voices,
    words.edited,
    form=VoicesForm,
    text="Ready narrations and videos become out of date. Nothing is started.",
)


def deletion(what: delete.What) -> CommandAction:
    def requests(rows: Any, _: Any) -> list[tuple[str, delete.Request]]:
        if what == delete.What.BOOK:
            return [(str(book), delete.Request(what, (book.pk,))) for book in rows]
        return [
            (f"{book.title}, {words.amount(len(pks), what.value)}", delete.Request(what, pks))
            for book, pks in by_book(rows)
        ]

    return CommandAction(
        f"Delete {what.value}s",
        "delete_rows",
        requests,
        delete.plan,
        delete.apply,
        words.deleted,
        text="Files and versions go for good; work in flight is abandoned.",
    )


@admin.register(Chapter)
class ChapterAdmin(OperatedAdmin):
    list_display = ("book", "number", "title")
    list_select_related = ("book",)
    search_fields = ("title", "book__title")
    actions = (deletion(delete.What.CHAPTER).as_action("delete_chapters"),)


@admin.register(Scene)
class SceneAdmin(OperatedAdmin):
    form = SceneForm
    list_display = ("place", "opening", "book")
    list_filter = ("book",)
    list_select_related = ("book", "chapter__book")
    search_fields = ("text", "book__title")
    fields = (
        "book",
        "chapter",
        "number",
        "position",
        "title",
        "text",
        "pictures",
        "voice",
        "speed_percent",
        "content_version",
    )
    readonly_fields = (
        "book",
        "chapter",
        "number",
        "position",
        "title",
        "pictures",
        "voice",
        "speed_percent",
        "content_version",
    )
    actions = (
        REGENERATE.as_action("regenerate"),
        PRIORITY.as_action("move_to_front"),
        PLACEHOLDER.as_action("fill_with_placeholders"),
        VOICES.as_action("set_voices"),
        deletion(delete.What.SCENE).as_action("delete_scenes"),
    )

    @admin.display(description="scene", ordering="position")
    def place(self, scene: Scene) -> str:
        return f"{scene.position} · {scene}"

    @admin.display(description="Pictures asked for")
    def pictures(self, scene: Scene) -> SafeString | str:
        prompts = [(unit.prompt,) for unit in scene.image_units.all()]
        if not prompts:
            return "One, drawn from the text."
        return format_html("<ol>{}</ol>", format_html_join("", "<li>{}</li>", prompts))

    @admin.display(description="begins")
    def opening(self, scene: Scene) -> str:
        return words.opening(scene.text, 80)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("generation.change_scene")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Give the command; it writes the row."""
        edited = edit.TextRequest(obj.pk, form.cleaned_data["text"])
        try:
            answer = edit.apply_text(edited, Actor.of(cast(User, request.user)))
        except GenerationError as error:
            self.message_user(request, f"The command was not accepted. Nothing was changed. {error}", messages.ERROR)
            obj.was_refused = True
        else:
            self.message_user(request, f"{words.edited(answer)}. Nothing was started.", messages.INFO)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """After a refusal nothing was changed, so nothing says that it was."""
        if getattr(obj, "was_refused", False):
            return HttpResponseRedirect(request.path)
        return super().response_change(request, obj)


@admin.register(ImageUnit)
class ImageUnitAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "prompt")
    list_select_related = ("scene__chapter__book",)
    search_fields = ("prompt", "scene__book__title")
