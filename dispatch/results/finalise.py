"""The only end of a dispatch."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, assert_never

from django.db import transaction
from django.db.models import F, Max
from django.db.models.functions import Now

from dispatch.config import config
from dispatch.failures import Failure, FailureType
from dispatch.models import Dispatch, Job
from dispatch.outcomes import DEFERRABLE, Bucket, HandOver, outcome_named
from generation import freshness, journal
from generation.lifecycle import State
from generation.models import Artifact, ArtifactFile, Asset, Book, Scene, Target
from generation.stages import STAGES, StageName, others_made_from

from . import parts
from .current import locked_active, why_not_wanted
from .listeners import tell
from .outcomes import Cancelled, Failed, Outcome, Published, Refused
from .refusals import GAVE_UP, deferral, is_last_refusal, refusal_values
from .release import release_now

VERSIONS_KEPT = 3
RETRY_BACKOFF = "retry_backoff"
NOTHING_TO_RENDER = "nothing_to_render"
RETRY_BUDGET_EXCEEDED = "retry_budget_exceeded"


def finalise_if_active(
    dispatch_id: str, outcome: Outcome, *, within: Callable[[], AbstractContextManager[None]] = transaction.atomic
) -> bool:
    """Record the outcome once; return False if the dispatch had already ended.

    One transaction under the Book lock. A dispatch that is no longer current, or whose asset may not exist, ends
    cancelled whatever the outcome says, and nothing is published. The lease is freed after the commit: freed earlier,
    the next tick could start a second dispatch of an asset whose result is not yet recorded. Should that call be
    lost, the next tick repeats it. The tick passes `within`, its own transaction, which fails once another
    process has taken the tick over.
    """
    with within():
        dispatch = locked_active(dispatch_id)
        if dispatch is None or _is_about_a_finished_job(dispatch, outcome):
            return False
        reason = None if isinstance(outcome, Cancelled) else why_not_wanted(dispatch)
        _end(dispatch, Cancelled(reason) if reason else outcome)
    release_now(dispatch_id)
    tell(dispatch)
    return True


def _is_about_a_finished_job(dispatch: Dispatch, outcome: Outcome) -> bool:
    """True of an error of a job whose result counted before: its worker may die afterwards, or say it twice."""
    if not isinstance(outcome, Failed) or outcome.job_id is None:
        return False
    return not dispatch.jobs.filter(job_id=outcome.job_id, status__in=Job.AT_HUB).exists()


def _end(dispatch: Dispatch, outcome: Outcome) -> None:
    match outcome:
        case Published():
            _publish_or_redo(dispatch, outcome)
        case Failed(failure, job_id):
            _fail(dispatch, failure, job_id)
        case Refused():
            _roll_back_refused(dispatch, outcome)
        case Cancelled(reason):
            _close(dispatch, Dispatch.Status.CANCELLED, reason, jobs_to=Job.Status.STOPPING)
            _take_asset_back(dispatch, reason)
        case _:
            assert_never(outcome)


def _publish_or_redo(dispatch: Dispatch, outcome: Published) -> None:
    asset = _asset(dispatch)
    if _is_older(dispatch, asset.scene):
        _close(dispatch, Dispatch.Status.CANCELLED, "made_from_older_version", jobs_to=Job.Status.DONE)
        # What failed before was another text; its render proved that it can be made.
        _move(dispatch, State.DIRTY, reason="made_from_older_version", retry_type="", retry_worker="")
        return
    _close(dispatch, Dispatch.Status.SUCCEEDED, "", jobs_to=Job.Status.DONE)
    artifact = _create_artifact(asset, dispatch, outcome)
    _move(dispatch, State.READY, published=artifact, refusal_reason="", refusal_count=0)
    _close_target(dispatch, Target.Status.DONE)
    used_parts = parts.forget(asset.pk)
    transaction.on_commit(partial(parts.remove_files, used_parts), robust=True)
    # The tick compares what was made from this stage's earlier artifact, and whether an input of this one was replaced
    # while it was in flight.
    if dispatch.inputs or others_made_from(asset.stage):
        Scene.objects.filter(pk=asset.scene_id).update(recheck=True)


def _is_older(dispatch: Dispatch, scene: Scene) -> bool:
    if dispatch.content_version != scene.content_version:
        return True
    return dispatch.stage in freshness.SPOKEN and dispatch.audio_config_version != scene.audio_config_version


def _create_artifact(asset: Asset, dispatch: Dispatch, outcome: Published) -> Artifact:
    newest = asset.artifacts.aggregate(newest=Max("version"))["newest"] or 0
    artifact = Artifact.objects.create(
        asset=asset,
        version=newest + 1,
        dispatch_id=dispatch.dispatch_id,
        content_version=dispatch.content_version,
        audio_config_version=dispatch.audio_config_version,
        inputs=dispatch.inputs,
    )
    ArtifactFile.objects.bulk_create(
        ArtifactFile(artifact=artifact, **file.as_json()) for file in outcome.files.values()
    )
    asset.artifacts.filter(version__lte=artifact.version - VERSIONS_KEPT).delete()
    return artifact


def _fail(dispatch: Dispatch, failure: Failure, job_id: str | None) -> None:
    asset = _asset(dispatch)
    Job.objects.filter(dispatch=dispatch, job_id=job_id).move(Job.AT_HUB, Job.Status.FAILED)
    _close(dispatch, Dispatch.Status.FAILED, failure.reason, jobs_to=Job.Status.STOPPING, message=failure.message)
    if failure.type == FailureType.PERMANENT:
        _give_up(dispatch, failure.reason, failure.message)
        return
    if asset.retries_left == 0:
        _give_up(
            dispatch, RETRY_BUDGET_EXCEEDED, f"No retry left. The last failure: {failure.reason}. {failure.message}"
        )
        return
    # 5 s × 2ⁿ, n counted from the retries this intent has used.
    used = max(0, STAGES[StageName(asset.stage)].retries - asset.retries_left)
    wait = config().orchestration_retry
    if failure.type != FailureType.ORCHESTRATION:
        wait = min(config().backoff_first * 2 ** min(used, 16), config().backoff_most)
    _move(
        dispatch,
        State.PENDING,
        reason=failure.reason,
        retries_left=F("retries_left") - 1,
        retry_type=failure.type,
        retry_worker=_worker_of(dispatch, job_id),
        **deferral(wait, RETRY_BACKOFF),
    )


def _worker_of(dispatch: Dispatch, job_id: str | None) -> str:
    """Return the worker of the job that failed, or the only one that had not finished; empty when that is not known."""
    begun = dispatch.jobs.exclude(status=Job.Status.DONE)
    if job_id is not None:
        begun = begun.filter(job_id=job_id)
    workers = set(begun.exclude(worker="").order_by().values_list("worker", flat=True))
    return workers.pop() if len(workers) == 1 else ""


def _roll_back_refused(dispatch: Dispatch, refused: Refused) -> None:
    """Free of charge: closed with proof if there was nothing to do, else back to pending by way of dirty."""
    asset, outcome = _asset(dispatch), outcome_named(refused.reason)
    _close(dispatch, Dispatch.Status.CANCELLED, outcome.reason, jobs_to=Job.Status.STOPPING)
    if outcome.reason == NOTHING_TO_RENDER:
        _give_up(dispatch, outcome.reason, outcome.words)
    elif refused.has_proof and _is_done(dispatch, outcome):
        _move(dispatch, State.READY, reason=outcome.reason, refusal_reason="", refusal_count=0)
        _close_target(dispatch, Target.Status.DONE)
    elif is_last_refusal(asset, outcome):
        _give_up(dispatch, outcome.reason, GAVE_UP)
    else:
        # A deferral is quiet: an hour of them is no story.
        quiet = outcome.bucket in DEFERRABLE
        _move(dispatch, State.PENDING, reason=outcome.reason, quiet=quiet, **refusal_values(asset, outcome))


def _is_done(dispatch: Dispatch, outcome: HandOver) -> bool:
    """True when what the asset has published is what was asked for."""
    if outcome.bucket == Bucket.IDEMPOTENT:
        earlier = Dispatch.objects.filter(asset=dispatch.asset, intent=dispatch.intent)
        return earlier.filter(status=Dispatch.Status.SUCCEEDED).exists()
    is_current = Asset.objects.filter(~freshness.stale(), pk=_asset(dispatch).pk, published__isnull=False)
    return outcome.bucket == Bucket.WITHOUT_JOB and is_current.exists()


def _give_up(dispatch: Dispatch, reason: str, message: str) -> None:
    _move(dispatch, State.FAILED, reason=reason, failure_reason=reason[:40], failure_message=message[:500])
    _close_target(dispatch, Target.Status.FAILED)


def _take_asset_back(dispatch: Dispatch, reason: str) -> None:
    """A cancel has already moved its assets; what is still generating at this intent lost its permission otherwise."""
    if dispatch.asset is not None and dispatch.asset.intent == dispatch.intent:
        _move(dispatch, State.DIRTY, reason=reason)


def _close(dispatch: Dispatch, status: Dispatch.Status, reason: str, *, jobs_to: Job.Status, message: str = "") -> None:
    dispatch.status, dispatch.reason, dispatch.message = status, reason[:40], message[:500]
    Dispatch.objects.filter(pk=dispatch.pk).update(
        status=dispatch.status, reason=dispatch.reason, message=dispatch.message, ended_at=Now(), release_due=True
    )
    jobs = Job.objects.filter(dispatch=dispatch)
    if jobs_to == Job.Status.STOPPING:
        # Never announced by submit: the hub cannot have it.
        jobs.filter(sends=0).move(Job.Status.RESERVED, Job.Status.DROPPED)
        jobs.move(Job.AT_HUB, Job.Status.STOPPING, stopping_since=Now())
    else:
        jobs.move(Job.AT_HUB, jobs_to)


def _move(dispatch: Dispatch, target: State, *, reason: str = "", quiet: bool = False, **values: Any) -> None:
    asset = _asset(dispatch)
    moved = Asset.objects.filter(pk=asset.pk, intent=dispatch.intent).move(State.GENERATING, target, **values)
    if moved:
        Book.objects.filter(pk=asset.book_id).update(revision=F("revision") + 1)
        change = journal.change_text(State.GENERATING, target)
    elif asset.state == State.GENERATING or target == State.DIRTY:
        return
    else:
        change = f"{asset.state} ↛ {target}"
    if moved and quiet:
        return
    journal.record(
        "finalised" if moved else "transition_refused",
        dispatch.book,
        journal.Subject.of(asset),
        change=change,
        reason=reason,
        message=dispatch.message,
        dispatch_id=dispatch.dispatch_id,
    )


def _close_target(dispatch: Dispatch, status: Target.Status) -> None:
    open_target = Target.objects.filter(asset=_asset(dispatch).pk, intent=dispatch.intent, status=Target.Status.OPEN)
    open_target.update(status=status)


def _asset(dispatch: Dispatch) -> Asset:
    if dispatch.asset is None:
        raise RuntimeError(f"dispatch {dispatch.dispatch_id} was judged without its asset")
    return dispatch.asset
