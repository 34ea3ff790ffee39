"""One tick: look at the difference between what should run and what runs, and close it."""

import logging
import time

from django.db.models import Count, Q, Subquery
from django.db.models.functions import Now

from dispatch.capacity.scripts import Fenced
from dispatch.config import config
from dispatch.hubs.base import Hub
from dispatch.hubs.registry import hub_named
from dispatch.models import Dispatch, TickLease, TickReport, TickRing
from generation import selectors
from generation.models import Target, Task
from generation.stages import StageName

from . import (
    admit,
    assemble,
    mark_stale,
    prepare,
    prune,
    record,
    renew,
    select,
    settle,
    statistics,
    stop,
    submit,
    workers,
)
from .boundaries import Boundary, reach
from .context import Run
from .lease import Lease, LostTick, acquire
from .report import Report

logger = logging.getLogger(__name__)

# Rings answered by one run before it lets go; the next interval answers the rest.
MOST_RINGS = 60


def run_tick(hub: Hub | None = None) -> Report | None:
    """Run the nine steps, and again while somebody rang meanwhile; return what all did.

    Returns None when another process holds the tick, or took it over on the way.
    """
    lease = acquire()
    if lease is None:
        return None
    try:
        report = _run_once(lease, hub)
        for _ in range(MOST_RINGS):
            if not _rung_since(lease):
                break
            time.sleep(config().ring_gap.total_seconds())
            lease.renew()
            TickLease.objects.filter(id=1, fence=lease.number).update(started_at=Now())
            report = _run_once(lease, hub).after(report)
    except (LostTick, Fenced):
        logger.warning("tick %s was taken over by another process", lease.number)
        return None
    finally:
        lease.release()
    return report


def _rung_since(lease: Lease) -> bool:
    started = TickLease.objects.filter(id=1, fence=lease.number).values("started_at")
    return TickRing.objects.filter(rung_at__gt=Subquery(started)).exists()


def _run_once(lease: Lease, hub: Hub | None) -> Report:
    began = time.monotonic()
    run = Run(lease=lease, hub=hub or hub_named(config().hub), quotas=selectors.quotas())
    reach(Boundary.BEGIN)
    for step in (renew.renew, stop.stop, assemble.assemble, settle.settle, mark_stale.mark_stale, _hand_over, _count):
        # Before every step: a command may have opened 30 000 targets during the one before.
        statistics.refresh_statistics(run)
        step(run)
        lease.renew()
    prune.prune(run)
    run.report.duration_ms = round((time.monotonic() - began) * 1000)
    with lease.transaction():
        TickReport.objects.create(fence=lease.number, report=run.report.as_json())
    return run.report


def _hand_over(run: Run) -> None:
    """Select, admit, prepare, submit, record."""
    run.active = _active_dispatches()
    startable = workers.stages_with_workers(run)
    candidates = select.select(run, startable)
    reach(Boundary.SELECTED)
    granted = admit.admit(run, candidates)
    reach(Boundary.ADMITTED)
    run.lease.renew()
    prepare.prepare(run, granted)
    run.lease.renew()
    reach(Boundary.BEFORE_SUBMIT)
    sendings = submit.submit(run)
    reach(Boundary.AFTER_SUBMIT)
    run.lease.renew()
    record.record(run, sendings)


def _active_dispatches() -> dict[StageName, int]:
    counted = Dispatch.objects.filter(status=Dispatch.Status.ACTIVE).order_by().values_list("stage")
    return {StageName(stage): number for stage, number in counted.annotate(number=Count("pk"))}


def _count(run: Run) -> None:
    open_targets = Target.objects.filter(status=Target.Status.OPEN)
    counts = open_targets.aggregate(
        total=Count("pk"),
        deferred=Count("pk", filter=Q(asset__deferred_until__gt=Now())),
        blocked=Count("pk", filter=Q(task__status=Task.Status.BLOCKED)),
    )
    run.report.total_active = counts["total"]
    run.report.deferred = counts["deferred"]
    run.report.blocked = counts["blocked"]
