"""After a dispatch ended: its lease is freed, and the stage's circuit and budgets hear how it ended."""

import logging
from collections.abc import Iterable

from django.db import DatabaseError
from django.db.models import Q

from dispatch.capacity.leases import Claim, End, Told, release_lease
from dispatch.capacity.scripts import CapacityUnavailable
from dispatch.failures import Failure, FailureType
from dispatch.models import Dispatch
from generation import journal

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 500
# Whose lease is gone already.
NO_ASSET = 0
COUNTED = {FailureType.TRANSIENT, FailureType.INFRASTRUCTURE}
# Hand-overs that say something about the hub, though nothing was spent.
UNSENT = {"send_failed", "hub_unavailable"}
# A circuit that opens again after a failed test is no news.
NEWS = {"opened": "circuit_opened", "closed": "circuit_closed"}


def release(ended: Q) -> None:
    """Free and tell what these ended dispatches still owe. Safe to repeat and in parallel.

    Raises CapacityUnavailable; what was not told then stays due, and the next tick tells it.
    """
    for dispatch in Dispatch.objects.filter(ended, release_due=True).order_by("ended_at")[:MOST_AT_ONCE]:
        claim = Claim(dispatch.asset_pk, dispatch.dispatch_id)
        _, change = release_lease(dispatch.stage, claim, _end_of(dispatch))
        if change in NEWS:
            journal.record(NEWS[change], None, reason=dispatch.stage, dispatch_id=dispatch.dispatch_id)
        Dispatch.objects.filter(pk=dispatch.pk).update(release_due=False)
        if change:
            logger.warning("the circuit of %s %s after dispatch %s", dispatch.stage, change, dispatch.dispatch_id)


def give_back(stage: str, dispatch_ids: Iterable[str]) -> None:
    """Give back what those spent that never became a dispatch: their tick died between admission and prepare.

    Raises CapacityUnavailable.
    """
    dropped = set(dispatch_ids)
    known = set(Dispatch.objects.filter(dispatch_id__in=dropped).values_list("dispatch_id", flat=True))
    for dispatch_id in sorted(dropped - known):
        release_lease(stage, Claim(NO_ASSET, dispatch_id), End())


def release_now(dispatch_id: str) -> None:
    """Release one whose end was just committed: whatever is away now, that end counts, and the next tick tells it."""
    try:
        release(Q(dispatch_id=dispatch_id))
    except (CapacityUnavailable, DatabaseError):
        logger.warning("the end of dispatch %s was not told; the next tick tells it", dispatch_id)


def _end_of(dispatch: Dispatch) -> End:
    at_s = dispatch.ended_at.timestamp() if dispatch.ended_at else 0.0
    match dispatch.status:
        case Dispatch.Status.SUCCEEDED:
            return End(Told.SUCCESS, at_s, is_free=False)
        case Dispatch.Status.FAILED:
            counts = Failure(dispatch.reason).type in COUNTED
            return End(Told.FAILURE if counts else Told.NONE, at_s, is_free=False)
    return End(Told.FAILURE if dispatch.reason in UNSENT else Told.NONE, at_s)
