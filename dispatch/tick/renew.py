"""Step 1: leases become what active dispatches say, and evidence about their jobs becomes facts."""

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce, Greatest, Now

from dispatch.capacity.leases import Claim, sync_leases
from dispatch.capacity.scripts import CapacityUnavailable
from dispatch.config import config
from dispatch.failures import Failure
from dispatch.hubs.base import HubError, JobRef, Life
from dispatch.models import Dispatch, Job
from dispatch.results import mailbox
from dispatch.results.accept import note_running
from dispatch.results.outcomes import Failed
from dispatch.results.release import give_back, release
from generation import selectors
from generation.stages import STAGES

from .boundaries import Boundary, reach
from .context import Run

logger = logging.getLogger(__name__)


def renew(run: Run) -> None:
    _read_mailbox(run)
    _sync(run)
    # Also those of which nobody knows whether they arrived.
    at_hub = Q(status=Job.Status.SENT) | Q(status=Job.Status.RESERVED, sends__gt=0)
    jobs = Job.objects.filter(at_hub, dispatch__status=Dispatch.Status.ACTIVE).select_related("dispatch")
    _judge(run, list(jobs))
    _expire(run)
    reach(Boundary.RENEWED)


def _sync(run: Run) -> None:
    # One that ended and was not told yet keeps its lease: dropped, the test permit on it would be lost untold.
    holding = Dispatch.objects.filter(Q(status=Dispatch.Status.ACTIVE) | Q(release_due=True))
    # Of two of one asset the newer counts: it comes last.
    active = holding.order_by("pk").values_list("stage", "asset_pk", "dispatch_id")
    claims: dict[str, list[Claim]] = {}
    for name, asset_pk, dispatch_id in active:
        claims.setdefault(name, []).append(Claim(asset_pk, dispatch_id))
    resets = selectors.circuit_resets()
    try:
        fence = run.lease.fence()
        for stage in STAGES.values():
            held = claims.get(stage.name, [])
            synced = sync_leases(stage, fence, held, resets=resets[stage.name])
            run.standings[stage.name] = synced.standing
            if synced.dropped:
                give_back(stage.name, synced.dropped)
        release(Q())
    except CapacityUnavailable as error:
        run.capacity_ok = False
        run.report.error("capacity_unavailable", message=str(error))


def _read_mailbox(run: Run) -> None:
    try:
        for problem in mailbox.collect(run.hub):
            run.report.error("mailbox", message=problem)
    except HubError as error:
        run.report.error("hub_unavailable", message=str(error))


def _judge(run: Run, jobs: Sequence[Job]) -> None:
    """Note who runs, and who arrived; who was absent twice, `absent_for` apart, is gone. Unknown changes nothing."""
    refs = {job.pk: JobRef(job.dispatch.dispatch_id, job.job_id, job.dispatch.stage) for job in jobs}
    evidence = run.hub.evidence(list(refs.values()))
    lives = {job.pk: evidence.get(refs[job.pk], Life.UNKNOWN) for job in jobs}
    running = [pk for pk, life in lives.items() if life == Life.RUNNING]
    absent = [pk for pk, life in lives.items() if life == Life.ABSENT]
    queued = [pk for pk, life in lives.items() if life == Life.QUEUED]
    with run.lease.transaction():
        note_running(running)
        Job.objects.filter(pk__in=queued).update(absent_since=None)
        # A receipt that got lost on its way: the hub has it.
        arrived = Job.objects.filter(pk__in=[*running, *queued])
        arrived.move(Job.Status.RESERVED, Job.Status.SENT, sent_at=Now(), next_send_at=None)
        sent = Job.objects.filter(pk__in=absent, status=Job.Status.SENT)
        sent.update(absent_since=Coalesce("absent_since", Now()))
        # Never seen running: nothing was spent, the same ids go out again.
        gone = Job.objects.filter(pk__in=absent, absent_since__lte=Now() - config().absent_for, status=Job.Status.SENT)
        gone.filter(running_at__isnull=True).move(
            Job.Status.SENT, Job.Status.RESERVED, absent_since=None, next_send_at=None, sent_at=None
        )
        orphaned = list(gone.filter(running_at__isnull=False).values_list("dispatch__dispatch_id", flat=True))
    for dispatch_id in set(orphaned):
        failure = Failure("orphaned", "The worker that rendered it is gone.")
        run.finalise(dispatch_id, Failed(failure))


def _expire(run: Run) -> None:
    """End dispatches past their deadline or without progress. The clock stands still while a job is queued."""
    now = Now()
    at_hub = Job.objects.filter(dispatch__status=Dispatch.Status.ACTIVE, status__in=Job.AT_HUB)
    second = timedelta(seconds=1)
    allowed = F("timeout_s") * second
    over = Q(running_at__lt=now - allowed - config().deadline_grace)
    if not run.hub.has_evidence:
        over |= Q(running_at__isnull=True, sent_at__lt=now - allowed - config().deadline_without_evidence)
    # Nobody knows whether it arrived, and nothing was ever seen of it.
    sent_into_the_dark = Q(status=Job.Status.RESERVED, sends__gt=0, running_at__isnull=True)
    over |= sent_into_the_dark & Q(dispatch__created_at__lt=now - allowed - config().deadline_without_evidence)
    late = at_hub.filter(over)
    # A part that waits for a worker makes no progress and is not stalled; the greatest ignores what is not there.
    running = at_hub.filter(running_at__isnull=False)
    running = running.annotate(last_progress=Greatest("dispatch__progress_at", "running_at"))
    stalled = Q()
    for stage in STAGES.values():
        stalled |= Q(dispatch__stage=stage.name, last_progress__lt=now - timedelta(seconds=stage.stall_s))
    verdicts = dict.fromkeys(running.filter(stalled).values_list("dispatch__dispatch_id", flat=True), "stalled")
    verdicts |= dict.fromkeys(late.values_list("dispatch__dispatch_id", flat=True), "worker_timeout")
    for dispatch_id in _without_work():
        run.finalise(dispatch_id, Failed(Failure("part_lost", "Its jobs are done, and parts of it are gone.")))
    for dispatch_id, reason in verdicts.items():
        failure = Failure(reason, "The worker made no progress in the time it has.")
        run.finalise(dispatch_id, Failed(failure))


def _without_work() -> list[str]:
    """Return dispatches that nothing will end: no job of them is at the hub, and there is nothing to join."""
    at_hub = Job.objects.filter(dispatch=OuterRef("pk"), status__in=Job.AT_HUB)
    active = Dispatch.objects.filter(~Exists(at_hub), status=Dispatch.Status.ACTIVE, assembling_at__isnull=True)
    return list(active.values_list("dispatch_id", flat=True))
