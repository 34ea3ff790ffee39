"""Asking an assembly worker to join parts."""

import logging
from collections.abc import Iterable

from dispatch.hubs.base import HubUnavailable
from dispatch.hubs.rq.assembly import ensure_queued

logger = logging.getLogger(__name__)


def request_assembly(dispatch_ids: Iterable[str]) -> str | None:
    """Ask for each; return what went wrong, if something did. Never raises: the tick asks again."""
    for dispatch_id in dispatch_ids:
        try:
            ensure_queued(dispatch_id)
        except HubUnavailable as error:
            logger.warning("the assembly of %s was not asked for; the next tick does", dispatch_id)
            return str(error)
    return None
