"""How far running work is, as its workers tell."""

import logging
import time

from django.db import DatabaseError
from django.db.models import Sum
from django.db.models.functions import Now

from dispatch.models import Dispatch, Job
from generation.lifecycle import State
from generation.models import Asset

logger = logging.getLogger(__name__)

# A worker tells at most this often.
INTERVAL_S = 2.0


class Reporter:
    """What one render tells of its progress. A telling that is lost costs nothing: the next one says more."""

    def __init__(self, dispatch_id: str, job_id: str) -> None:
        self._dispatch_id, self._job_id = dispatch_id, job_id
        self._next = 0.0

    def tell(self, share: float) -> None:
        """Note the share that is done, 0 to 1. Never raises."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + INTERVAL_S
        try:
            note_progress(self._dispatch_id, self._job_id, round(100 * share))
        except DatabaseError:
            logger.warning("the progress of %s was not noted", self._job_id, exc_info=True)


def note_progress(dispatch_id: str, job_id: str, percent: int) -> bool:
    """Note that a job is `percent` done if that is more than before; return whether it was.

    Only a rise is progress: a worker that says the same for ever stalls.
    """
    percent = min(99, max(0, percent))
    job = Job.objects.filter(dispatch__dispatch_id=dispatch_id, dispatch__status=Dispatch.Status.ACTIVE, job_id=job_id)
    if not job.filter(status__in=Job.AT_HUB, percent__lt=percent).update(percent=percent):
        return False
    Dispatch.objects.filter(dispatch_id=dispatch_id, status=Dispatch.Status.ACTIVE).update(progress_at=Now())
    dispatch = Dispatch.objects.get(dispatch_id=dispatch_id)
    show(dispatch, done=max(0, len(dispatch.units) - dispatch.jobs.exclude(status=Job.Status.DONE).count()))
    return True


def show(dispatch: Dispatch, done: int) -> None:
    """Write into the asset how many parts are done, and how much of all: a running part counts as far as it is."""
    running = dispatch.jobs.filter(status__in=Job.AT_HUB).aggregate(percent=Sum("percent"))["percent"] or 0
    total = max(1, len(dispatch.units))
    current = Asset.objects.filter(pk=dispatch.asset_pk, intent=dispatch.intent, state=State.GENERATING)
    current.update(progress_percent=min(99, (100 * done + running) // total), parts_done=done)
