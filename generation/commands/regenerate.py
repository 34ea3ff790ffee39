"""Regenerate: the only way work comes to be asked for."""

from dataclasses import dataclass
from typing import Any

from generation.models import Book, Command

from .answers import Actor, Asked, answer_once, book_named
from .auto_next import state_of
from .permissions import OPERATE, STOP
from .planning import Plan, assets_of, plan_stages, stages_asked
from .scopes import WINDOW_SCENES, Chosen, Scope, StagesOfScenes, scenes_of
from .targets import queue

__all__ = ["Plan", "Request", "Scope", "apply", "plan"]


@dataclass(frozen=True)
class Request(StagesOfScenes):
    """`rebuild_all` also makes anew what is ready, and replaces what is on its way; `count` is a window's scenes."""

    rebuild_all: bool = False
    count: int = WINDOW_SCENES

    @property
    def chosen(self) -> Chosen:
        return Chosen(self.scope, self.ids, self.count)

    def params(self) -> dict[str, Any]:
        return {**super().params(), "rebuild_all": self.rebuild_all}

    def asked(self) -> Asked:
        permissions = (OPERATE, STOP) if self.rebuild_all else (OPERATE,)
        return Asked(Command.Kind.REGENERATE, self.book_pk, self.params(), permissions)


def plan(request: Request) -> Plan:
    """Return what `apply` would do now. Reads only; this is the dry run and the confirmation.

    Raises NotFound, InvalidRequest (also UnknownStage), LayerDisabled when no named stage has its layer on.
    """
    return _plan(book_named(request.book_pk), request)


def apply(request: Request, actor: Actor, key: str | None = None, *, lifts_tombstones: bool = True) -> dict[str, Any]:
    """Do it and return the answer of `Plan.answer()` with the ids of the tasks. Raises what `plan` raises.

    The answer to a next_window also says whether windows follow by themselves.
    """

    def act(book: Book, command: Command) -> dict[str, Any]:
        planned = _plan(book, request)
        lifts = planned.stages if lifts_tombstones else ()
        answer = {**planned.answer(), "tasks": queue(command, book, planned, lifts=lifts)}
        return answer | state_of(book) if request.scope == Scope.NEXT_WINDOW else answer

    return answer_once(request.asked(), actor, key, act)


def _plan(book: Book, request: Request) -> Plan:
    scenes = scenes_of(book, request.chosen, stages_asked(request.stages))
    asked = assets_of(book) if request.scope == Scope.WHOLE_BOOK else assets_of(book).filter(scene__in=scenes)
    return plan_stages(book, request.stages, asked, rebuild_all=request.rebuild_all)
