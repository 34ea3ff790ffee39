"""Step 6c: the outbox. Every reserved job of every active dispatch goes to the hub, always under the same ids."""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from django.db.models import F, Q
from django.db.models.functions import Now

from dispatch.config import config
from dispatch.envelopes import digest_of
from dispatch.hubs.base import (
    Envelope,
    Hub,
    HubDeclined,
    HubError,
    HubRejected,
    HubUnavailable,
    JobRef,
    Receipt,
    SubmissionUnknown,
)
from dispatch.models import Dispatch, Job

from .context import Run

logger = logging.getLogger(__name__)

MOST_PER_TICK = 200


@dataclass(frozen=True)
class Sending:
    """One job and what the hub said; an error that is no HubError is told like an unknown submission."""

    job_pk: int
    dispatch_id: str
    asset_pk: int
    answer: Receipt | HubError


def submit(run: Run) -> list[Sending]:
    """Send within 10 s, four at a time, one attempt each; end at the first HubUnavailable. What was not tried waits."""
    due = Q(next_send_at__isnull=True) | Q(next_send_at__lte=Now())
    reserved = Job.objects.filter(due, status=Job.Status.RESERVED, dispatch__status=Dispatch.Status.ACTIVE)
    jobs = list(reserved.select_related("dispatch").order_by("dispatch", "order")[:MOST_PER_TICK])
    sendings: list[Sending] = []
    deadline = time.monotonic() + config().submit_budget.total_seconds()
    with ThreadPoolExecutor(config().submit_parallel) as pool:
        for start in range(0, len(jobs), config().submit_parallel):
            if time.monotonic() > deadline:
                break
            batch = _announce(run, jobs[start : start + config().submit_parallel])
            sendings += pool.map(lambda job: _send(run.hub, job), batch)
            if any(isinstance(sending.answer, HubUnavailable) for sending in sendings):
                break
    return sendings


def _announce(run: Run, jobs: Sequence[Job]) -> list[Job]:
    """Note that these jobs may reach the hub from now on, and return those that are still to be sent.

    Whoever ends such a dispatch meanwhile must have the hub cleared; noted after the sending, it could not know.
    """
    with run.lease.transaction():
        wanted = Job.objects.filter(
            pk__in=[job.pk for job in jobs], status=Job.Status.RESERVED, dispatch__status=Dispatch.Status.ACTIVE
        )
        announced = set(wanted.select_for_update(no_key=True, of=("self",)).values_list("pk", flat=True))
        Job.objects.filter(pk__in=announced).update(sends=F("sends") + 1)
    return [job for job in jobs if job.pk in announced]


def _send(hub: Hub, job: Job) -> Sending:
    dispatch = job.dispatch
    envelope = Envelope(
        ref=JobRef(dispatch.dispatch_id, job.job_id, dispatch.stage),
        unit=job.unit,
        timeout_s=job.timeout_s,
        body=job.envelope,
    )
    answer: Receipt | HubError
    if digest_of(job.envelope) != job.digest:
        return Sending(job.pk, dispatch.dispatch_id, dispatch.asset_pk, HubDeclined("intent_corrupt"))
    try:
        answer = hub.submit(envelope)
    except (HubUnavailable, HubDeclined, HubRejected, SubmissionUnknown) as error:
        answer = error
    except Exception as error:
        # Nobody knows how far it came: keep the ids, and let the other jobs go out.
        logger.exception("%s was not submitted", job.job_id)
        answer = SubmissionUnknown(repr(error))
    return Sending(job.pk, dispatch.dispatch_id, dispatch.asset_pk, answer)
