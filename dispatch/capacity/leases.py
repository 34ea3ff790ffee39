"""Leases: the slots of running assets, a projection of the active dispatches."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from generation.stages import Stage

from . import keys
from .limits import limits_argument
from .scripts import call
from .standing import Standing, standing_from


@dataclass(frozen=True)
class Claim:
    """An asset and the dispatch that holds, or would hold, its lease."""

    asset_pk: int
    dispatch_id: str


@dataclass(frozen=True)
class Fence:
    """Proof of a tick: its number, and until when on Redis's clock nobody else can have taken over."""

    number: int
    valid_until_s: float


class Told(StrEnum):
    """What an end says about the stage."""

    SUCCESS = "success"
    FAILURE = "failure"
    NONE = "none"


@dataclass(frozen=True)
class End:
    """`at_s` is its time on PostgreSQL's clock (s since the epoch); `is_free` gives the retry it spent back."""

    told: Told = Told.NONE
    at_s: float = 0
    is_free: bool = True


@dataclass(frozen=True)
class Synced:
    """`dropped` are the dispatch ids that held a lease and do no more."""

    added: int
    dropped: tuple[str, ...]
    standing: Standing


def sync_leases(
    stage: Stage, fence: Fence, claims: Iterable[Claim], *, resets: int = 0, now_s: float | None = None
) -> Synced:
    """Make the stage's leases equal to `claims`. Raises Fenced, CapacityUnavailable.

    `resets` says how often operators reset the circuit; a number that Redis has not seen yet closes it.
    """
    arguments = [*fence_arguments(fence), limits_argument(), stage.renewed_ttl_s, resets]
    for claim in claims:
        arguments += [claim.asset_pk, claim.dispatch_id]
    added, dropped, standing = call("sync_leases", keys.of_stage(stage.name), arguments, now_s)
    return Synced(int(added), tuple(dropped), standing_from(standing))


def release_lease(stage: str, claim: Claim, end: End, now_s: float | None = None) -> tuple[bool, str]:
    """Free the lease if this dispatch still holds it, and tell the stage's circuit and budgets how it ended.

    Safe to repeat. Returns (whether it was freed, what became of the circuit: opened, reopened, closed or ""). Raises
    CapacityUnavailable.
    """
    told = [end.told, repr(end.at_s), int(end.is_free)]
    arguments = [claim.asset_pk, claim.dispatch_id, limits_argument(), *told]
    freed, change = call("release_lease", keys.of_stage(stage), arguments, now_s)
    return bool(freed), str(change)


def fence_arguments(fence: Fence) -> list[str]:
    return [str(fence.number), repr(fence.valid_until_s)]
