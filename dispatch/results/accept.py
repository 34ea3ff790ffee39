"""Results as they come in, from workers, callbacks and mailboxes alike."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Coalesce, Now

from dispatch.envelopes import digest_of
from dispatch.failures import Failure
from dispatch.models import Dispatch, Job
from dispatch.ring import ring
from generation import store
from generation.exceptions import BadMedia
from generation.stages import STAGES, StageName
from generation.store import StoredFile

from .finalise import finalise_if_active
from .outcomes import Answer, Failed, Published, Refused, Rejection

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Claimed:
    """A job that may be rendered now, with its frozen envelope."""

    stage: StageName
    asset_pk: int
    envelope: Mapping[str, Any]


def claim(dispatch_id: str, job_id: str) -> Claimed | Rejection:
    """The first act of a worker: look whether the job is still wanted, and note that it runs.

    A job that was popped from its queue before a cancel arrives here all the same.
    """
    job = _find(dispatch_id, job_id)
    if job is None:
        return Rejection.NO_ACTIVE_DISPATCH
    dispatch = job.dispatch
    if dispatch.status != Dispatch.Status.ACTIVE or job.status not in Job.AT_HUB:
        return Rejection.STALE_DISPATCH
    if dispatch.asset is None or dispatch.asset.intent != dispatch.intent:
        return Rejection.STALE_DISPATCH
    if digest_of(job.envelope) != job.digest:
        finalise_if_active(dispatch_id, Refused("intent_corrupt"))
        return Rejection.DISPATCH_MISMATCH
    note_running([job.pk])
    return Claimed(StageName(dispatch.stage), dispatch.asset_pk, job.envelope)


def accept(dispatch_id: str, job_id: str, build_id: str, files: Mapping[str, StoredFile]) -> Answer:
    """Count a result, once. Files of a result that does not count are removed again.

    Safe to repeat, in any order and in parallel; raises only when PostgreSQL or the storage is away, and then the
    sender keeps the result and sends it again.
    """
    found = _current(dispatch_id, job_id, build_id)
    rejection = found if isinstance(found, Rejection) else _finalise(found, files)
    if rejection is not None:
        _remove_unowned(files)
    return Answer(rejection)


def accept_error(dispatch_id: str, job_id: str, build_id: str, failure: Failure) -> Answer:
    """Count an error, once; otherwise like `accept`."""
    found = _current(dispatch_id, job_id, build_id)
    if isinstance(found, Rejection):
        return Answer(found)
    ended = finalise_if_active(dispatch_id, Failed(failure, job_id))
    ring()
    return Answer(None if ended else Rejection.STALE_DISPATCH)


def note_running(job_pks: list[int]) -> None:
    """Note the first evidence that a worker runs these jobs; the deadline counts from it."""
    Job.objects.filter(pk__in=job_pks).update(running_at=Coalesce("running_at", Now()), absent_since=None)


def _find(dispatch_id: str, job_id: str) -> Job | None:
    found = Job.objects.filter(dispatch__dispatch_id=dispatch_id, job_id=job_id)
    return found.select_related("dispatch__asset").first()


def _current(dispatch_id: str, job_id: str, build_id: str) -> Job | Rejection:
    """Return the job a result is for, or why the result cannot count. An empty build id names no import."""
    if not dispatch_id:
        return Rejection.MISSING_DISPATCH_ID
    job = _find(dispatch_id, job_id)
    if job is None:
        known = Dispatch.objects.filter(dispatch_id=dispatch_id).exists()
        return Rejection.DISPATCH_MISMATCH if known else Rejection.NO_ACTIVE_DISPATCH
    if build_id and build_id != str(job.dispatch.build_id):
        return Rejection.DISPATCH_MISMATCH
    match job.dispatch.status:
        case Dispatch.Status.SUCCEEDED:
            return Rejection.ALREADY_FINALIZED
        case Dispatch.Status.ACTIVE:
            return job
    return Rejection.STALE_DISPATCH


def _finalise(job: Job, files: Mapping[str, StoredFile]) -> Rejection | None:
    dispatch = job.dispatch
    try:
        store.validate(STAGES[StageName(dispatch.stage)], files)
    except BadMedia as error:
        failure = Failure(Rejection.BAD_OUTPUT, str(error))
        ended = finalise_if_active(dispatch.dispatch_id, Failed(failure, job.job_id))
        ring()
        return Rejection.BAD_OUTPUT if ended else Rejection.STALE_DISPATCH
    finalise_if_active(dispatch.dispatch_id, Published(files))
    ring()
    dispatch.refresh_from_db(fields=["status"])
    if dispatch.status != Dispatch.Status.SUCCEEDED:
        return Rejection.STALE_DISPATCH
    return None if _owns(files) else Rejection.ALREADY_FINALIZED


def _owns(files: Mapping[str, StoredFile]) -> bool:
    return all(store.is_owned(file.name) for file in files.values())


def _remove_unowned(files: Mapping[str, StoredFile]) -> None:
    for file in files.values():
        if store.is_owned(file.name):
            continue
        try:
            store.storage().delete(file.name)
        except OSError:
            logger.warning("%s was not removed; reconciliation removes files that no row owns", file.name)
