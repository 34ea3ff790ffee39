"""Let a stage that was stopped after too many failures go on at once."""

from dataclasses import dataclass
from typing import Any

from django.db.models import F

from generation import journal
from generation.models import Command, StageConfig
from generation.stages import stage_named

from .answers import Actor, Asked, answer_once_for_all
from .permissions import QUOTAS


@dataclass(frozen=True)
class Request:
    stage: str


@dataclass(frozen=True)
class Plan:
    """Only the tick knows what stands in Redis: a circuit that is closed is reset as well, which changes nothing."""

    stage: str

    def answer(self) -> dict[str, Any]:
        """Return {"stage"}."""
        return {"stage": self.stage}


def plan(request: Request) -> Plan:
    """Return what would be reset. Reads only. Raises UnknownStage."""
    return Plan(stage_named(request.stage).name)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Close the stage's circuit from the next tick on; return the answer of `Plan.answer()`. Raises UnknownStage."""
    planned = plan(request)
    quota = stage_named(request.stage).quota

    def act(_: Command) -> dict[str, Any]:
        StageConfig.objects.get_or_create(stage=request.stage, defaults={"quota": quota})
        StageConfig.objects.filter(stage=request.stage).update(circuit_resets=F("circuit_resets") + 1)
        journal.record("circuit_reset", None, reason=request.stage, actor=actor.name)
        return planned.answer()

    asked = Asked(Command.Kind.RESET_CIRCUIT, None, {"stage": request.stage}, (QUOTAS,))
    return answer_once_for_all(asked, actor, key, act)
