"""Stop all: nothing of these stages exists any more until a new command, whatever restarts or is lost."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Now

from generation.exceptions import NotFound
from generation.lifecycle import State
from generation.models import Book, Command, LayerConfig
from generation.stages import STAGES, stages_named

from .answers import Actor, Asked, answer_once
from .targets import commanded_assets, take_back


@dataclass(frozen=True)
class Request:
    """`stages` empty means all."""

    book_pk: int
    stages: tuple[str, ...] = ()

    def names(self) -> list[str]:
        wanted = stages_named(self.stages) if self.stages else list(STAGES.values())
        return [stage.name for stage in wanted]


@dataclass(frozen=True)
class Plan:
    queued: dict[str, int]
    generating: dict[str, int]

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
    names = request.names()
    book = Book.objects.filter(pk=request.book_pk).first()
    if book is None:
        raise NotFound(f"There is no book {request.book_pk}.")
    counts = Counter((asset.state, asset.stage) for asset in commanded_assets(book, names))
    return Plan(
        queued={stage: number for (state, stage), number in counts.items() if state == State.PENDING},
        generating={stage: number for (state, stage), number in counts.items() if state == State.GENERATING},
    )


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Stop the stages and return the answer of `Plan.answer()`. Raises what `plan` raises."""
    names = request.names()

    def act(book: Book, command: Command) -> dict[str, Any]:
        answer = plan(request).answer()
        LayerConfig.objects.set(book, names, cancelled_at=Now(), cancelled_by=actor.name)
        take_back(command, book, commanded_assets(book, names), names)
        return answer

    return answer_once(Asked(Command.Kind.CANCEL, request.book_pk, {"stages": names}), actor, key, act)
