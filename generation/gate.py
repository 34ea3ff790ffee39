"""The only place that says whether an asset may exist and may start, and why not.

`may_exist` is asked by stop and finalise, `may_start` by select and again by prepare. Each check is an expression over
Asset rows, so that one statement judges any number of assets; the callers hold the Book lock where it matters.
"""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import cache, partial

from django.db.models import Case, CharField, Exists, OuterRef, Q, QuerySet, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from .lifecycle import State
from .models import Asset, LayerConfig, StageConfig, SystemConfig, Target, Task
from .stages import STAGES, StageName

CANCELLED = "cancelled"
NO_ACTIVE_TASK = "no_active_task"
LAYER_DISABLED = "layer_disabled"
DELETED = "deleted"  # an asset whose rows are gone; no expression can see it
PAUSED = "paused"
BLOCKED = "blocked"
DEFERRED = "deferred"
WAITING_FOR = "waiting_for:"
NEEDS = "needs_"

Condition = Q | Exists | Combinable


class EachAlone(Exists):
    """Asked of each asset alone, along an index, when it is that asset's turn.

    An EXISTS may be asked of all assets beforehand, which is the faster way to judge all and the slower by far where a
    reader stops after the first eight of 300 000. The planner does not know that, and its guesses are old.
    """

    template = "((%(subquery)s) IS NOT NULL)"


@dataclass(frozen=True)
class Check:
    """`holds_back()` is true of an asset that this reason keeps from existing or starting."""

    reason: str
    holds_back: Callable[[], Condition]
    # The only stage that it can hold back; None for all.
    stage: StageName | None = None


def _layer() -> QuerySet[LayerConfig]:
    return LayerConfig.objects.filter(book=OuterRef("book"), stage=OuterRef("stage"))


def _open_target(statuses: Iterable[Task.Status]) -> Exists:
    return EachAlone(
        Target.objects.filter(
            asset=OuterRef("pk"),
            status=Target.Status.OPEN,
            intent=OuterRef("intent"),
            task__status__in=list(statuses),
        )
    )


def _cancelled() -> Condition:
    return EachAlone(_layer().filter(cancelled_at__isnull=False))


def _no_active_task() -> Condition:
    return ~_open_target(Task.LIVE)


def _layer_disabled() -> Condition:
    return EachAlone(_layer().filter(enabled=False))


def _paused() -> Condition:
    system = EachAlone(SystemConfig.objects.filter(paused_at__isnull=False))
    stage = EachAlone(StageConfig.objects.filter(stage=OuterRef("stage"), paused_at__isnull=False))
    return system | stage | EachAlone(_layer().filter(paused_at__isnull=False))


def _blocked() -> Condition:
    return ~_open_target([Task.Status.ACTIVE])


def _deferred() -> Condition:
    return Q(deferred_until__gt=Now())


def shut(stage: str) -> Condition:
    """True of a *book* none of whose assets of the stage may start: what is shut as a whole is not looked through."""
    layer = LayerConfig.objects.filter(book=OuterRef("pk"), stage=stage)
    is_shut = Q(cancelled_at__isnull=False) | Q(enabled=False) | Q(paused_at__isnull=False)
    everything = Exists(SystemConfig.objects.filter(paused_at__isnull=False))
    whole_stage = Exists(StageConfig.objects.filter(stage=stage, paused_at__isnull=False))
    return everything | whole_stage | Exists(layer.filter(is_shut))


def coming(stage: str, exists: type[Exists] = Exists) -> Exists:
    """True of an asset whose scene has an open target of `stage`."""
    return exists(Target.objects.filter(asset__scene=OuterRef("scene"), asset__stage=stage, status=Target.Status.OPEN))


def satisfied(stage: str, exists: type[Exists] = Exists) -> Condition:
    """True of an asset whose scene's `stage` is ready, or has a published file while that layer is off."""
    sibling = Asset.objects.filter(scene=OuterRef("scene"), stage=stage)
    off = exists(LayerConfig.objects.filter(book=OuterRef("book"), stage=stage, enabled=False))
    return exists(sibling.filter(state=State.READY)) | (off & exists(sibling.filter(published__isnull=False)))


def missing(stage: str, exists: type[Exists] = Exists) -> Condition:
    """True of an asset whose scene's `stage` is neither there nor coming."""
    return ~satisfied(stage, exists) & ~coming(stage, exists)


def _of_stage(stage: str, condition: Callable[[str, type[Exists]], Condition], other: str) -> Condition:
    return Q(stage=stage) & Q(condition(other, EachAlone))


def _waiting_checks() -> Iterable[Check]:
    for stage in STAGES.values():
        for other in (*stage.needs, *stage.waits_for):
            yield Check(f"{WAITING_FOR}{other}", partial(_of_stage, stage.name, coming, other), stage.name)
        for other in stage.needs:
            yield Check(f"{NEEDS}{other}", partial(_of_stage, stage.name, missing, other), stage.name)


MAY_EXIST: tuple[Check, ...] = (
    Check(CANCELLED, _cancelled),
    Check(NO_ACTIVE_TASK, _no_active_task),
    Check(LAYER_DISABLED, _layer_disabled),
)
MAY_START: tuple[Check, ...] = (
    *MAY_EXIST,
    Check(PAUSED, _paused),
    Check(BLOCKED, _blocked),
    Check(DEFERRED, _deferred),
    *_waiting_checks(),
)


def may_exist() -> Q:
    return _none_of(MAY_EXIST)


def may_start(stages: Container[StageName] = STAGES) -> Q:
    """Only assets of `stages` are judged in full: what cannot concern them is not asked."""
    return _none_of(tuple(check for check in MAY_START if check.stage is None or check.stage in stages))


def why_not_exist(asset_pk: int) -> str | None:
    """Return the first reason why the asset may not exist, None when it may."""
    return _first_reason(asset_pk, MAY_EXIST)


def why_not_start(asset_pk: int) -> str | None:
    """Return the first reason why the asset may not start, None when it may."""
    return _first_reason(asset_pk, MAY_START)


def all_reasons(asset_pk: int) -> list[str]:
    """Return every reason that keeps the asset from starting, in the gate's order."""
    verdicts = {f"check_{index}": _flag(check) for index, check in enumerate(MAY_START)}
    row = Asset.objects.filter(pk=asset_pk).annotate(**verdicts).values(*verdicts).first()
    if row is None:
        return [DELETED]
    return [check.reason for index, check in enumerate(MAY_START) if row[f"check_{index}"]]


@cache
def _none_of(checks: tuple[Check, ...]) -> Q:
    allowed = Q()
    for check in checks:
        allowed &= ~Q(check.holds_back())
    return allowed


def _flag(check: Check) -> Case:
    return Case(When(Q(check.holds_back()), then=Value(True)), default=Value(False))


@cache
def _verdict(checks: tuple[Check, ...]) -> Case:
    whens = [When(Q(check.holds_back()), then=Value(check.reason)) for check in checks]
    return Case(*whens, default=Value(""), output_field=CharField())


def _first_reason(asset_pk: int, checks: tuple[Check, ...]) -> str | None:
    row = Asset.objects.filter(pk=asset_pk).annotate(verdict=_verdict(checks)).values_list("verdict", flat=True).first()
    return DELETED if row is None else (row or None)
