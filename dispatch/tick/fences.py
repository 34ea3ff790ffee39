"""Orders that did not hold any more when prepare looked at them under the lock."""

import logging
from collections.abc import Iterable

from dispatch.config import config
from dispatch.results.refusals import STALE_INTENT, deferral
from generation.lifecycle import DISPATCHABLE
from generation.models import Asset, Target, Task

from .context import Candidate

logger = logging.getLogger(__name__)

INTENT_MISSING = "intent_missing"
INTENT_NOT_ACTIVE = "intent_not_active"


def note_fences(refused: Iterable[Candidate]) -> None:
    """Defer those that nobody orders at their present intent, so that they are not selected again at once.

    A newer intent defers nothing: it is selected as it stands. What is paused or waits meanwhile has no fence.
    """
    for candidate in refused:
        reason = _reason(candidate)
        if reason is None:
            continue
        logger.warning("asset %s was not prepared: %s", candidate.asset_pk, reason)
        if reason != STALE_INTENT:
            waiting = Asset.objects.filter(pk=candidate.asset_pk, intent=candidate.intent, state__in=DISPATCHABLE)
            waiting.update(**deferral(config().fenced_deferral, reason))


def _reason(candidate: Candidate) -> str | None:
    intent = Asset.objects.filter(pk=candidate.asset_pk).values_list("intent", flat=True).first()
    if intent is None:
        return None  # deleted
    if intent != candidate.intent:
        return STALE_INTENT
    orders = Target.objects.filter(asset=candidate.asset_pk, intent=intent, status=Target.Status.OPEN)
    status = orders.values_list("task__status", flat=True).first()
    if status is None:
        return INTENT_MISSING
    return None if status == Task.Status.ACTIVE else INTENT_NOT_ACTIVE
