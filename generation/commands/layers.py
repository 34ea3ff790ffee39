"""Switch a layer of a book on or off. Off takes its queued and running work back; on starts nothing."""

from dataclasses import dataclass
from typing import Any

from generation.models import Book, Command, LayerConfig, Scene
from generation.stages import stage_named

from . import auto_next
from .answers import Actor, Asked, answer_once, book_named
from .cancel import take_back_stages
from .permissions import CONFIGURE
from .targets import commanded_assets


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
    stage_named(request.stage)
    return _plan(book_named(request.book_pk), request)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Switch the layer and return the answer of `Plan.answer()`. Raises what `plan` raises."""
    stage_named(request.stage)

    def act(book: Book, command: Command) -> dict[str, Any]:
        planned = _plan(book, request)
        LayerConfig.objects.set(book, [request.stage], enabled=request.enabled)
        if request.enabled:
            # What was edited meanwhile was left alone; it is compared now.
            Scene.objects.filter(book=book).update(recheck=True)
        else:
            take_back_stages(command, book, [request.stage])
            if planned.taken_back:
                auto_next.switch_off(book, f"{request.stage} was switched off by {actor.name}")
        return planned.answer()

    params = {"stage": request.stage, "enabled": request.enabled}
    return answer_once(Asked(Command.Kind.LAYER, request.book_pk, params, (CONFIGURE,)), actor, key, act)


def _plan(book: Book, request: Request) -> Plan:
    layer = LayerConfig.objects.filter(book=book, stage=request.stage).first()
    is_on = layer is None or layer.enabled
    taken_back = 0 if request.enabled else commanded_assets(book, [request.stage]).count()
    return Plan(changes=is_on != request.enabled, taken_back=taken_back)
