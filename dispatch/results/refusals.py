"""The same hand-over failing again and again: twice running waits, ten times gives up."""

from typing import Any

from django.db.models.functions import Now

from dispatch.config import config
from generation.models import Asset

GAVE_UP = "The hand-over failed too many times running."


def is_last_refusal(asset: Asset, reason: str) -> bool:
    """True when one more refusal for this reason ends the asset."""
    return _count(asset, reason) >= config().refusals_before_failure


def refusal_values(asset: Asset, reason: str) -> dict[str, Any]:
    """Return the columns that count one more refusal for `reason`, with the deferral from the second one on."""
    count = _count(asset, reason)
    values: dict[str, Any] = {"refusal_reason": reason[:40], "refusal_count": count}
    if count > 1:
        values |= {"deferred_until": Now() + config().capacity_deferral, "deferral_reason": reason[:40]}
    return values


def _count(asset: Asset, reason: str) -> int:
    return asset.refusal_count + 1 if asset.refusal_reason == reason[:40] else 1
