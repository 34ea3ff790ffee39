"""Results that a worker rendered but could not hand over."""

import logging

from dispatch.failures import Failure, FailureType
from dispatch.hubs.base import Hub, Undelivered
from generation.store import StoredFile

from .accept import accept, accept_error

logger = logging.getLogger(__name__)


def collect(hub: Hub) -> int:
    """Accept every waiting result once and let the hub forget it; return how many. Raises HubUnavailable."""
    waiting = hub.undelivered()
    for undelivered in waiting:
        _deliver(undelivered)
        hub.acknowledge(undelivered.ref)
    return len(waiting)


def _deliver(undelivered: Undelivered) -> None:
    ref, payload = undelivered.ref, undelivered.payload
    build_id = str(payload.get("build_id", ""))
    if "files" in payload:
        files = {role: StoredFile.from_json(file) for role, file in payload["files"].items()}
        answer = accept(ref.dispatch_id, ref.job_id, build_id, files)
    else:
        error = payload.get("error", {})
        failure = Failure(
            FailureType(error.get("type", FailureType.TRANSIENT)),
            str(error.get("reason", "render_failed")),
            str(error.get("message", "")),
        )
        answer = accept_error(ref.dispatch_id, ref.job_id, build_id, failure)
    logger.info("mailbox: %s of dispatch %s: %s", ref.job_id, ref.dispatch_id, answer.rejection or "accepted")
