"""Move queued assets to the front of their book's queue."""

from dataclasses import dataclass
from typing import Any

from django.db.models import F, Min
from django.db.models.functions import Greatest

from generation import journal
from generation.bulk import among
from generation.lifecycle import State
from generation.models import Asset, Book, Command

from .answers import Actor, Asked, answer_once, book_named
from .permissions import OPERATE
from .planning import assets_of, stages_asked
from .scopes import StagesOfScenes, scenes_of

Request = StagesOfScenes


@dataclass(frozen=True)
class Plan:
    moved: tuple[int, ...]
    not_queued: int

    def answer(self) -> dict[str, Any]:
        """Return {"moved": assets, "skipped": {"not_queued": assets}}."""
        return {"moved": len(self.moved), "skipped": {"not_queued": self.not_queued} if self.not_queued else {}}


def plan(request: Request) -> Plan:
    """Return what would move. Reads only. Raises NotFound, InvalidRequest."""
    return _plan(book_named(request.book_pk), request)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Move them before all others of the book that wait now; return the answer of `Plan.answer()`."""

    def act(book: Book, command: Command) -> dict[str, Any]:
        planned = _plan(book, request)
        moved = Asset.objects.filter(among("pk", planned.moved)).order_by()
        journal.record_command(command, book, moved)
        others = assets_of(book).in_state(State.PENDING).exclude(among("pk", planned.moved))
        front = others.aggregate(front=Min("queue_rank"))["front"]
        if front is not None:
            began = F("queue_rank") + F("priority")
            moved.update(priority=Greatest(began - front + 1, 0))
        return planned.answer()

    return answer_once(Asked(Command.Kind.PRIORITY, request.book_pk, request.params(), (OPERATE,)), actor, key, act)


def _plan(book: Book, request: Request) -> Plan:
    stages = stages_asked(request.stages)
    scenes = scenes_of(book, request.chosen, stages)
    asked = assets_of(book).filter(scene__in=scenes, stage__in=[stage.name for stage in stages])
    moved = tuple(asked.in_state(State.PENDING).values_list("pk", flat=True))
    return Plan(moved, asked.count() - len(moved))
