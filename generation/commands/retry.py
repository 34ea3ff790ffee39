"""Retry: a regenerate of exactly the assets that failed or are blocked."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, TextChoices

from generation.lifecycle import State
from generation.models import Book, Command, Target, Task

from .answers import Actor, Asked, answer_once, book_named, require_storable
from .permissions import OPERATE
from .planning import Plan, assets_of, plan_stages, stages_asked
from .scopes import StagesOfScenes, scenes_of
from .targets import queue

REASON_MAX = 60


class Which(TextChoices):
    FAILED = "failed", "Failed"
    BLOCKED = "blocked", "Blocked"
    BOTH = "both", "Failed and blocked"


@dataclass(frozen=True)
class Request(StagesOfScenes):
    """`reason` empty means any: a failure's, or a blocked task's such as no_worker:image."""

    which: Which = Which.BOTH
    reason: str = ""

    def params(self) -> dict[str, Any]:
        return {**super().params(), "which": Which(self.which).value, "reason": self.reason}


def plan(request: Request) -> Plan:
    """Return what `apply` would do now. Reads only. Raises NotFound, InvalidRequest, LayerDisabled."""
    return _plan(book_named(request.book_pk), request)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Do it and return the answer of `Plan.answer()` with the ids of the tasks. Raises what `plan` raises."""

    def act(book: Book, command: Command) -> dict[str, Any]:
        planned = _plan(book, request)
        return {**planned.answer(), "tasks": queue(command, book, planned)}

    return answer_once(Asked(Command.Kind.RETRY, request.book_pk, request.params(), (OPERATE,)), actor, key, act)


def _plan(book: Book, request: Request) -> Plan:
    require_storable("reason", request.reason, REASON_MAX)
    scenes = scenes_of(book, request.chosen, stages_asked(request.stages))
    asked = assets_of(book).filter(_wanted(request), scene__in=scenes)
    return plan_stages(book, request.stages, asked, rebuild_all=False)


def _wanted(request: Request) -> Q:
    failed = Q(state=State.FAILED)
    stuck = Target.objects.filter(asset=OuterRef("pk"), status=Target.Status.OPEN, task__status=Task.Status.BLOCKED)
    if request.reason:
        failed &= Q(failure_reason=request.reason)
        stuck = stuck.filter(task__reason=request.reason)
    blocked = Q(Exists(stuck), state=State.PENDING)
    match request.which:
        case Which.FAILED:
            return failed
        case Which.BLOCKED:
            return blocked
    return failed | blocked
