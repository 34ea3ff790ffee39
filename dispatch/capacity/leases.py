"""Leases: the slots of running assets, a projection of the active dispatches."""

from collections.abc import Iterable
from dataclasses import dataclass

from generation.stages import Stage

from . import keys
from .scripts import call


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


def sync_leases(stage: Stage, fence: Fence, claims: Iterable[Claim], now_s: float | None = None) -> tuple[int, int]:
    """Make the stage's leases equal to `claims`; return (added, dropped). Raises Fenced, CapacityUnavailable."""
    added, dropped = call(
        "sync_leases", stage_keys(stage), [*fence_arguments(fence, now_s), stage.renewed_ttl_s, *pair_arguments(claims)]
    )
    return int(added), int(dropped)


def release_lease(stage: str, claim: Claim) -> bool:
    """Free the lease if this dispatch still holds it. Safe to repeat. Raises CapacityUnavailable."""
    arguments = [claim.asset_pk, claim.dispatch_id]
    return bool(call("release_lease", [keys.active(stage), keys.owners(stage)], arguments))


def stage_keys(stage: Stage) -> list[str]:
    return [keys.FENCE, keys.active(stage.name), keys.owners(stage.name)]


def fence_arguments(fence: Fence, now_s: float | None) -> list[str]:
    return ["" if now_s is None else repr(now_s), str(fence.number), repr(fence.valid_until_s)]


def pair_arguments(claims: Iterable[Claim]) -> list[str]:
    return [part for claim in claims for part in (str(claim.asset_pk), claim.dispatch_id)]
