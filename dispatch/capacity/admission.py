"""Admission: which candidates of a stage get a slot, decided in one script call."""

from collections.abc import Sequence
from enum import StrEnum

from generation.stages import Stage

from .leases import Claim, Fence, fence_arguments, pair_arguments, stage_keys
from .scripts import call


class Verdict(StrEnum):
    GRANTED = "granted"
    DUPLICATE = "duplicate"  # the asset already holds a lease
    BACKPRESSURE = "backpressure"  # the quota is in use


def admit_leases(
    stage: Stage, fence: Fence, quota: int, active_rows: int, claims: Sequence[Claim], now_s: float | None = None
) -> list[Verdict]:
    """Grant leases in order; return one verdict per claim. Raises Fenced, CapacityUnavailable.

    `active_rows` are the stage's active dispatches that this tick counted: after an emptied Redis they, not the
    missing leases, hold the quota.
    """
    arguments = [*fence_arguments(fence, now_s), stage.lease_ttl_s, quota, active_rows, *pair_arguments(claims)]
    return [Verdict(word) for word in call("admit_leases", stage_keys(stage), arguments)]
