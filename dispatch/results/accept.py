"""Results as they come in, from workers, callbacks and mailboxes alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models.functions import Coalesce, Now

from dispatch.envelopes import digest_of
from dispatch.failures import Failure, storable
from dispatch.models import Dispatch, Job
from dispatch.ring import ring
from generation import store
from generation.exceptions import BadMedia
from generation.stages import STAGES, StageName
from generation.store import StoredFile

from . import parts
from .assembly_requests import request_assembly
from .current import locked_active, why_not_wanted
from .finalise import finalise_if_active
from .outcomes import Answer, Cancelled, Failed, Published, Refused, Rejection
from .progress import show


@dataclass(frozen=True)
class Claimed:
    """A job that may be rendered now, with its frozen envelope."""

    stage: StageName
    asset_pk: int
    envelope: Mapping[str, Any]


def claim(dispatch_id: str, job_id: str, worker: str = "") -> Claimed | Rejection:
    """The first act of a worker: look whether the job is still wanted, and note that it runs, and where.

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
    note_running([job.pk], worker=storable(worker)[:100])
    return Claimed(StageName(dispatch.stage), dispatch.asset_pk, job.envelope)


def accept(dispatch_id: str, job_id: str, build_id: str, files: Mapping[str, StoredFile]) -> Answer:
    """Count a result, once. Files of a result that does not count are removed again.

    Safe to repeat, in any order and in parallel; raises only when PostgreSQL or the storage is away, and then the
    sender keeps the result and sends it again.
    """
    found = _current(dispatch_id, job_id, build_id)
    if isinstance(found, Rejection):
        rejection: Rejection | None = found
    else:
        rejection = _count(found, files)
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


def note_running(job_pks: list[int], **values: str) -> None:
    """Note the first evidence that a worker runs these jobs, and `values`; the deadline counts from it."""
    Job.objects.filter(pk__in=job_pks).update(running_at=Coalesce("running_at", Now()), absent_since=None, **values)


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
        case Dispatch.Status.ACTIVE if job.status == Job.Status.DONE:
            return Rejection.ALREADY_FINALIZED
        case Dispatch.Status.ACTIVE:
            return job
    return Rejection.STALE_DISPATCH


def _count(job: Job, files: Mapping[str, StoredFile]) -> Rejection | None:
    """Validate the files, then keep them as a part or publish them."""
    dispatch = job.dispatch
    is_part = len(dispatch.units) > 1
    try:
        for file in files.values():
            if not store.is_named_for(file, dispatch.asset_pk, dispatch.dispatch_id, job.unit):
                raise BadMedia(f"{file.name!r} is not a file of this job.")
        files = store.validate(STAGES[StageName(dispatch.stage)], files, is_part=is_part)
    except BadMedia as error:
        failure = Failure(Rejection.BAD_OUTPUT, str(error))
        ended = finalise_if_active(dispatch.dispatch_id, Failed(failure, job.job_id))
        ring()
        return Rejection.BAD_OUTPUT if ended else Rejection.STALE_DISPATCH
    return _keep_part(job, files) if is_part else _publish(job, files)


def _publish(job: Job, files: Mapping[str, StoredFile]) -> Rejection | None:
    dispatch = job.dispatch
    finalise_if_active(dispatch.dispatch_id, Published(files))
    ring()
    dispatch.refresh_from_db(fields=["status"])
    if dispatch.status != Dispatch.Status.SUCCEEDED:
        return Rejection.STALE_DISPATCH
    owned = all(store.is_owned(file.name) for file in files.values())
    return None if owned else Rejection.ALREADY_FINALIZED


def _keep_part(job: Job, files: Mapping[str, StoredFile]) -> Rejection | None:
    """Keep one part; the last one makes the dispatch assembling. All under the locks of an end."""
    dispatch_id, ending, replaced = job.dispatch.dispatch_id, None, list[str]()
    is_last = False
    with transaction.atomic():
        dispatch = locked_active(dispatch_id)
        if dispatch is None:
            return Rejection.STALE_DISPATCH
        unwanted = why_not_wanted(dispatch)
        if unwanted is None:
            mine = Job.objects.filter(dispatch=dispatch, pk=job.pk)
            if not mine.move(Job.AT_HUB, Job.Status.DONE, percent=100):
                return None if all(map(parts.owns, files.values())) else Rejection.ALREADY_FINALIZED
            replaced = parts.keep(dispatch, job.unit, files)
            is_last, ending = _note_part(dispatch)
    if unwanted is not None:
        finalise_if_active(dispatch_id, Cancelled(unwanted))
        return Rejection.STALE_DISPATCH
    parts.remove_files(replaced)
    if ending is not None:
        finalise_if_active(dispatch_id, Failed(ending))
    if is_last:
        request_assembly([dispatch_id])
    ring()
    return None


def _note_part(dispatch: Dispatch) -> tuple[bool, Failure | None]:
    """Note the progress; return whether that was the last part, which happens once, and what ends it otherwise."""
    there, missing = parts.of_dispatch(dispatch)
    mine = Dispatch.objects.filter(pk=dispatch.pk)
    mine.update(progress_at=Now())
    show(dispatch, done=len(there))
    if not missing:
        return bool(mine.filter(assembling_at__isnull=True).update(assembling_at=Now())), None
    if dispatch.jobs.filter(status__in=Job.AT_HUB).exists():
        return False, None
    return False, Failure("part_lost", f"Parts {', '.join(missing)} were there when it began, and are gone.")


def _remove_unowned(files: Mapping[str, StoredFile]) -> None:
    """Remove files of a result that does not count; what counts already stays, and what no worker of ours names."""
    parts.remove_files(
        file.name
        for file in files.values()
        if store.RESULT_NAME.fullmatch(file.name) and not store.is_owned(file.name) and not parts.owns(file)
    )
