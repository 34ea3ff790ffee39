"""What a hand-over that came to nothing does to the asset's own limits."""

from datetime import timedelta
from typing import Any

from django.db.models.functions import Now

from dispatch.config import config
from dispatch.outcomes import DEFERRABLE, Bucket, HandOver
from generation.models import Asset

GAVE_UP = "The hand-over failed too many times running."
STALE_INTENT = "stale_intent"
# The columns of an asset whose refusals do not run on: another reason came between, or the hub took it.
NOT_RUNNING: dict[str, Any] = {"refusal_reason": "", "refusal_count": 0}


def deferral(wait: timedelta, reason: str) -> dict[str, Any]:
    """Return the columns that keep an asset from starting for a while."""
    return {"deferred_until": Now() + wait, "deferral_reason": reason[:40]}


def is_last_refusal(asset: Asset, outcome: HandOver) -> bool:
    """True when one more refusal for this reason ends the asset: the tenth running of what only counts."""
    return outcome.bucket not in DEFERRABLE and _count(asset, outcome.reason) >= config().refusals_before_failure


def refusal_values(asset: Asset, outcome: HandOver) -> dict[str, Any]:
    """Return the columns that one refusal sets.

    Capacity waits 60 s, what is fenced or done 900 s, except that a newer intent is selected again at once. Anything
    else is counted while its reason stays the same, and waits 60 s from the second time on.
    """
    match outcome.bucket:
        case Bucket.CAPACITY:
            return NOT_RUNNING | deferral(config().capacity_deferral, outcome.reason)
        case Bucket.FENCED | Bucket.IDEMPOTENT if outcome.reason != STALE_INTENT:
            return NOT_RUNNING | deferral(config().fenced_deferral, outcome.reason)
        case Bucket.FENCED:
            return NOT_RUNNING
    count = _count(asset, outcome.reason)
    values: dict[str, Any] = {"refusal_reason": outcome.reason[:40], "refusal_count": count}
    return values | deferral(config().capacity_deferral, outcome.reason) if count > 1 else values


def _count(asset: Asset, reason: str) -> int:
    return asset.refusal_count + 1 if asset.refusal_reason == reason[:40] else 1
