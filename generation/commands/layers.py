"""Switch a layer of a book on or off. Off takes its queued and running work back; on starts nothing."""

from dataclasses import dataclass
from typing import Any

from generation.exceptions import NotFound
from generation.models import Book, Command, LayerConfig
from generation.stages import stage_named

from .answers import Actor, Asked, answer_once
from .targets import commanded_assets, take_back


@dataclass(frozen=True)
class Request:
    book_pk: int
    stage: str
    enabled: bool


@dataclass(frozen=True)
class Plan:
    changes: bool
    taken_back: int

    def answer(self) -> dict[str, Any]:
        """Return {"changes": whether the switch moves, "taken_back": assets whose queued or running work ends}."""
        return {"changes": self.changes, "taken_back": self.taken_back}


def plan(request: Request) -> Plan:
    """Return what the switch would do. Reads only. Raises NotFound, UnknownStage."""
    stage = stage_named(request.stage)
    book = Book.objects.filter(pk=request.book_pk).first()
    if book is None:
        raise NotFound(f"There is no book {request.book_pk}.")
    layer = LayerConfig.objects.filter(book=book, stage=stage.name).first()
    is_on = layer is None or layer.enabled
    taken_back = 0 if request.enabled else len(commanded_assets(book, [stage.name]))
    return Plan(changes=is_on != request.enabled, taken_back=taken_back)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Switch the layer and return the answer of `Plan.answer()`. Raises what `plan` raises."""

    def act(book: Book, command: Command) -> dict[str, Any]:
        answer = plan(request).answer()
        LayerConfig.objects.set(book, [request.stage], enabled=request.enabled)
        if not request.enabled:
            take_back(command, book, commanded_assets(book, [request.stage]), [request.stage])
        return answer

    params = {"stage": request.stage, "enabled": request.enabled}
    return answer_once(Asked(Command.Kind.LAYER, request.book_pk, params), actor, key, act)
