"""Bodies of commands, and how one is given."""

from collections.abc import Callable
from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from generation.commands.answers import Actor
from generation.commands.pause import WHY_MAX
from generation.commands.retry import REASON_MAX, Which
from generation.commands.scopes import WINDOW_SCENES, Scope
from generation.stages import StageName
from generation.strict import StrictSerializer

VIEW = "generation.view_book"
KEY_HEADER = "Idempotency-Key"


class CommandBody(StrictSerializer):
    dry_run = serializers.BooleanField(default=False, help_text="say what would happen, and do nothing")


class StagesBody(CommandBody):
    stages = serializers.ListField(
        child=serializers.CharField(), default=list, help_text=f"of {', '.join(StageName.values)}; all when left out"
    )

    def validate_stages(self, stages: list[str]) -> tuple[str, ...]:
        return tuple(stages)


class ScopeBody(StagesBody):
    scope = serializers.ChoiceField(choices=Scope.choices, default=Scope.WHOLE_BOOK)
    ids = serializers.ListField(
        child=serializers.IntegerField(), default=list, help_text="of the chapters or scenes that the scope needs"
    )

    def validate_ids(self, ids: list[int]) -> tuple[int, ...]:
        return tuple(ids)

    def validate_scope(self, scope: str) -> Scope:
        return Scope(scope)


class RegenerateBody(ScopeBody):
    rebuild_all = serializers.BooleanField(default=False, help_text="also what is ready; files stay until replaced")
    count = serializers.IntegerField(default=WINDOW_SCENES, help_text="scenes of a next_window")


class RetryBody(ScopeBody):
    which = serializers.ChoiceField(choices=Which.choices, default=Which.BOTH)
    reason = serializers.CharField(default="", allow_blank=True, max_length=REASON_MAX, help_text="only this reason")

    def validate_which(self, which: str) -> Which:
        return Which(which)


class PauseBody(StagesBody):
    why = serializers.CharField(default="", allow_blank=True, max_length=WHY_MAX)


class LayerBody(CommandBody):
    enabled = serializers.BooleanField()


class StageCounts(serializers.Serializer[Any]):
    targets = serializers.IntegerField()
    skipped = serializers.DictField(child=serializers.IntegerField(), help_text="assets by reason")


class Queued(serializers.Serializer[Any]):
    """targets + skipped = what was asked."""

    dry_run = serializers.BooleanField()
    targets = serializers.IntegerField()
    stages = serializers.DictField(child=StageCounts())
    tasks = serializers.ListField(child=serializers.IntegerField(), required=False, help_text="not in a dry run")


class TakenBack(serializers.Serializer[Any]):
    dry_run = serializers.BooleanField()
    queued = serializers.IntegerField(help_text="assets that leave the queue")
    generating = serializers.IntegerField(help_text="assets whose running work is abandoned")


class Paused(serializers.Serializer[Any]):
    dry_run = serializers.BooleanField()
    changes = serializers.BooleanField()
    queued = serializers.IntegerField(help_text="assets that wait there")


class Switched(serializers.Serializer[Any]):
    dry_run = serializers.BooleanField()
    changes = serializers.BooleanField()
    taken_back = serializers.IntegerField()


KEY_PARAMETER = OpenApiParameter(
    KEY_HEADER, str, OpenApiParameter.HEADER, description="The same key and body act once; with another body: 409."
)


def give(request: Request, body: type[CommandBody], command: Any, make: Callable[..., Any]) -> Response:
    """Give the command `make(**fields of the body)`, or answer what it would do. Raises what the command refuses."""
    checked = body(data=request.data)
    checked.is_valid(raise_exception=True)
    fields = dict(checked.validated_data)
    dry_run = fields.pop("dry_run")
    return answer(request, command, make(**fields), dry_run=dry_run)


def answer(request: Request, command: Any, asked: Any, *, dry_run: bool, done: int = 200) -> Response:
    """Return what `plan` or `apply` of the command answers; `done` is the status of what was done."""
    actor = Actor.of(cast(User, request.user))
    if dry_run:
        actor.require((VIEW,))
        return Response({"dry_run": True, **command.plan(asked).answer()})
    return Response({"dry_run": False, **command.apply(asked, actor, request.headers.get(KEY_HEADER))}, done)
