"""Limits of a stage: how many of its assets run at once everywhere, and how long a job may take in one book."""

from dataclasses import dataclass
from typing import Any

from generation import journal
from generation.exceptions import InvalidRequest
from generation.models import Book, Command, LayerConfig, StageConfig
from generation.stages import stage_named

from .answers import Actor, Asked, answer_once, answer_once_for_all, book_named
from .permissions import CONFIGURE, QUOTAS

QUOTA_MOST = 1000
TIMEOUT_LEAST_MIN, TIMEOUT_MOST_MIN = 5, 180


@dataclass(frozen=True)
class QuotaRequest:
    """`quota` 0 admits nothing. A lower one ends nothing that runs."""

    stage: str
    quota: int


@dataclass(frozen=True)
class TimeoutRequest:
    """`minutes` None is the number of the stage. What is handed over already keeps the limit it went with."""

    book_pk: int
    stage: str
    minutes: int | None


@dataclass(frozen=True)
class Plan:
    was: int | None
    becomes: int | None

    def answer(self) -> dict[str, Any]:
        """Return {"changes": whether anything does, "was", "becomes"}; minutes None is the number of the stage."""
        return {"changes": self.was != self.becomes, "was": self.was, "becomes": self.becomes}

    @property
    def change(self) -> str:
        return f"{self.was} → {self.becomes}"


def plan_quota(request: QuotaRequest) -> Plan:
    """Return what it would change. Reads only. Raises UnknownStage, InvalidRequest."""
    stage = stage_named(request.stage)
    if not 0 <= request.quota <= QUOTA_MOST:
        raise InvalidRequest(f"A quota is a number from 0 to {QUOTA_MOST}, not {request.quota}.")
    row = StageConfig.objects.filter(stage=stage.name).first()
    return Plan(row.quota if row else stage.quota, request.quota)


def apply_quota(request: QuotaRequest, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Set the quota and return the answer of `Plan.answer()`. Raises what `plan_quota` raises."""
    plan_quota(request)

    def act(_: Command) -> dict[str, Any]:
        planned = plan_quota(request)
        StageConfig.objects.update_or_create(stage=request.stage, defaults={"quota": request.quota})
        _note("quota", None, request.stage, planned, actor)
        return planned.answer()

    params = {"stage": request.stage, "quota": request.quota}
    return answer_once_for_all(Asked(Command.Kind.QUOTA, None, params, (QUOTAS,)), actor, key, act)


def plan_timeout(request: TimeoutRequest) -> Plan:
    """Return what it would change. Reads only. Raises NotFound, UnknownStage, InvalidRequest."""
    _require_timeout(request)
    return _plan_timeout(book_named(request.book_pk), request)


def apply_timeout(request: TimeoutRequest, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Set how long a job may take and return the answer of `Plan.answer()`. Raises what `plan_timeout` raises."""
    _require_timeout(request)

    def act(book: Book, _: Command) -> dict[str, Any]:
        planned = _plan_timeout(book, request)
        LayerConfig.objects.set(book, [request.stage], job_timeout_min=request.minutes)
        _note("job_timeout", book, request.stage, planned, actor)
        return planned.answer()

    params = {"stage": request.stage, "minutes": request.minutes}
    return answer_once(Asked(Command.Kind.JOB_TIMEOUT, request.book_pk, params, (CONFIGURE,)), actor, key, act)


def _require_timeout(request: TimeoutRequest) -> None:
    stage_named(request.stage)
    if request.minutes is not None and not TIMEOUT_LEAST_MIN <= request.minutes <= TIMEOUT_MOST_MIN:
        raise InvalidRequest(
            f"A job may take {TIMEOUT_LEAST_MIN} to {TIMEOUT_MOST_MIN} minutes, not {request.minutes}."
        )


def _plan_timeout(book: Book, request: TimeoutRequest) -> Plan:
    row = LayerConfig.objects.filter(book=book, stage=request.stage).first()
    return Plan(row.job_timeout_min if row else None, request.minutes)


def _note(event: str, book: Book | None, stage: str, planned: Plan, actor: Actor) -> None:
    if planned.was != planned.becomes:
        journal.record(event, book, change=planned.change, reason=stage, actor=actor.name)
