"""Admission: which candidates of a stage get a slot, decided in one script call."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from generation.stages import Stage

from . import keys
from .leases import Claim, Fence, fence_arguments
from .limits import limits_argument
from .scripts import call


class Verdict(StrEnum):
    GRANTED = "granted"
    DUPLICATE = "duplicate"  # the asset already holds a lease
    BACKPRESSURE = "backpressure"  # the quota is in use
    CIRCUIT_OPEN = "circuit_open"  # too many failures of the stage
    HALF_OPEN_LIMIT = "half_open_limit"  # the circuit's tests are running
    RETRY_BUDGET_EXCEEDED = "retry_budget_exceeded"  # too many retries lately


@dataclass(frozen=True)
class Wish:
    """A claim that asks to be admitted. As a retry it names the failure's type, and the worker if that is known."""

    claim: Claim
    retry_type: str = ""
    retry_worker: str = ""


def admit_leases(
    stage: Stage, fence: Fence, quota: int, active_rows: int, wishes: Sequence[Wish], now_s: float | None = None
) -> list[Verdict]:
    """Grant leases in order; return one verdict per wish. Raises Fenced, CapacityUnavailable.

    `active_rows` are the stage's active dispatches that this tick counted: after an emptied Redis they, not the
    missing leases, hold the quota.
    """
    arguments = [*fence_arguments(fence), limits_argument(), stage.lease_ttl_s, quota, active_rows]
    for wish in wishes:
        arguments += [wish.claim.asset_pk, wish.claim.dispatch_id, wish.retry_type, wish.retry_worker]
    return [Verdict(word) for word in call("admit_leases", keys.of_stage(stage.name), arguments, now_s)]
