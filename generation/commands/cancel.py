"""Stop all: nothing of these stages exists any more until a new command, whatever restarts or is lost."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.db.models.functions import Now

from generation.lifecycle import State
from generation.models import Book, Command, LayerConfig, Target, Task
from generation.querysets import AssetQuerySet

from . import auto_next
from .answers import Actor, Asked, answer_once, book_named
from .permissions import STOP
from .planning import stages_asked
from .targets import commanded_assets, take_back


@dataclass(frozen=True)
class Request:
    """`stages` empty means all."""

    book_pk: int
    stages: tuple[str, ...] = ()

    def names(self) -> list[str]:
        return [stage.name for stage in stages_asked(self.stages)]


@dataclass(frozen=True)
class Plan:
    queued: dict[str, int]
    generating: dict[str, int]

    @classmethod
    def of(cls, assets: AssetQuerySet) -> "Plan":
        counted = assets.order_by().values_list("state", "stage").annotate(number=Count("pk"))
        counts = {(state, stage): number for state, stage, number in counted}
        return cls(
            queued={stage: number for (state, stage), number in counts.items() if state == State.PENDING},
            generating={stage: number for (state, stage), number in counts.items() if state == State.GENERATING},
        )

    def answer(self) -> dict[str, Any]:
        """Return {"queued": n, "generating": n, "stages": {stage: {"queued": n, "generating": n}}}."""
        stages = sorted({*self.queued, *self.generating})
        return {
            "queued": sum(self.queued.values()),
            "generating": sum(self.generating.values()),
            "stages": {
                stage: {"queued": self.queued.get(stage, 0), "generating": self.generating.get(stage, 0)}
                for stage in stages
            },
        }


def plan(request: Request) -> Plan:
    """Return what would leave the queue and what would be abandoned. Reads only. Raises NotFound, UnknownStage."""
    return Plan.of(commanded_assets(book_named(request.book_pk), request.names()))


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Stop the stages and return the answer of `Plan.answer()`. Raises what `plan` raises."""
    names = request.names()

    def act(book: Book, command: Command) -> dict[str, Any]:
        answer = Plan.of(commanded_assets(book, names)).answer()
        LayerConfig.objects.set(book, names, cancelled_at=Now(), cancelled_by=actor.name)
        take_back_stages(command, book, names)
        auto_next.switch_off(book, f"stopped by {actor.name}")
        return answer

    return answer_once(Asked(Command.Kind.CANCEL, request.book_pk, {"stages": names}, (STOP,)), actor, key, act)


def take_back_stages(command: Command, book: Book, names: Iterable[str]) -> None:
    """End everything asked for of these stages of the book."""
    stages = list(names)
    tasks = Task.objects.filter(book=book, stage__in=stages, status__in=Task.LIVE)
    targets = Target.objects.filter(task__in=tasks)
    take_back(command, book, commanded_assets(book, stages), targets, tasks)
