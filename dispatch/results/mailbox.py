"""Results that a worker rendered but could not hand over."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dispatch.failures import Failure, failure_from
from dispatch.hubs.base import Hub, JobRef, Undelivered
from generation.store import StoredFile

from .accept import accept, accept_error

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Letter:
    ref: JobRef
    build_id: str
    result: Mapping[str, StoredFile] | Failure


def collect(hub: Hub) -> list[str]:
    """Accept every waiting result once and let the hub forget it; return what went wrong with single letters.

    A letter that says nothing we understand is forgotten; one that cannot be accepted now stays. Neither keeps the
    others. Raises HubUnavailable.
    """
    problems = []
    for undelivered in hub.undelivered():
        try:
            letter = _read(undelivered)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problems.append(f"{undelivered.ref.job_id}: unreadable: {error!r}")
            hub.acknowledge(undelivered.ref)
            continue
        try:
            _deliver(letter)
        except Exception as error:
            logger.exception("mailbox: %s stays", letter.ref.job_id)
            problems.append(f"{letter.ref.job_id}: {error!r}")
            continue
        hub.acknowledge(undelivered.ref)
    return problems


def _read(undelivered: Undelivered) -> Letter:
    payload = undelivered.payload
    build_id = str(payload.get("build_id", ""))
    if "files" in payload:
        files = {role: StoredFile.from_json(file) for role, file in payload["files"].items()}
        return Letter(undelivered.ref, build_id, files)
    error: Mapping[str, Any] = payload["error"]
    failure = failure_from(str(error.get("reason", "")), str(error.get("message", "")))
    return Letter(undelivered.ref, build_id, failure)


def _deliver(letter: Letter) -> None:
    ref = letter.ref
    if isinstance(letter.result, Failure):
        answer = accept_error(ref.dispatch_id, ref.job_id, letter.build_id, letter.result)
    else:
        answer = accept(ref.dispatch_id, ref.job_id, letter.build_id, letter.result)
    logger.info("mailbox: %s of dispatch %s: %s", ref.job_id, ref.dispatch_id, answer.rejection or "accepted")
