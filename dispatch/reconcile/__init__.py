"""Look for what the record, the files and the hub say differently, and put it right. Nothing is started by it."""

import logging
import time
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q
from django.db.models.functions import Now

from dispatch.config import config
from dispatch.hubs.base import Hub
from dispatch.hubs.registry import hub_named
from dispatch.models import ReconcileState
from dispatch.tick.lease import Lease, LostTick, acquire
from generation import journal
from generation.models import Book, Finding

from .base import CannotRead, Check, Found, Scope
from .ended_jobs import EndedJobs
from .ghosts import Ghosts
from .missing_files import MissingFiles
from .orphan_files import OrphanFiles
from .orphan_targets import OrphanTargets
from .proofs import Proofs
from .undelivered import UndeliveredResults

logger = logging.getLogger(__name__)

# The closed set of what may be found. Letters first: a result that waits may be what another finding lacks.
CHECKS: tuple[Check, ...] = (
    UndeliveredResults(),
    Ghosts(),
    OrphanTargets(),
    EndedJobs(),
    MissingFiles(),
    Proofs(),
    OrphanFiles(),
)
WAIT_FOR_TICK_S = 60.0
POLL_S = 0.2


@dataclass
class Report:
    dry_run: bool
    findings: list[Found] = field(default_factory=list)
    found: dict[str, int] = field(default_factory=dict)
    fixed: dict[str, int] = field(default_factory=dict)
    # Why a check ended before it had seen everything, by kind.
    incomplete: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return {"dry_run", "found": {kind: n}, "fixed": {kind: n}, "incomplete": {kind: why}, "findings": […]}."""
        told = [{"subject": one.subject, "detail": one.detail, "book": one.book_pk} for one in self.findings]
        return {
            "dry_run": self.dry_run,
            "found": self.found,
            "fixed": self.fixed,
            "incomplete": self.incomplete,
            "findings": told,
        }


def reconcile(book_pk: int | None = None, *, dry_run: bool = False, hub: Hub | None = None) -> Report | None:
    """Look at everything, or at one book, under the tick lease; None when a tick held it all the time.

    Raises LostTick when another process took the lease over meanwhile.
    """
    lease = _acquire_patiently()
    if lease is None:
        return None
    try:
        return run_checks(Scope(lease, hub or hub_named(config().hub), book_pk, is_whole=True, dry_run=dry_run))
    finally:
        lease.release()


def reconcile_if_due(hub: Hub | None = None) -> Report | None:
    """Look at everything but only at a slice of the files; None when the last pass is not long ago, or a tick runs.

    Call after a tick. Raises LostTick when another process took the lease over meanwhile.
    """
    ReconcileState.objects.get_or_create(id=1)
    due = ReconcileState.objects.filter(
        Q(passed_at__isnull=True) | Q(passed_at__lte=Now() - config().reconcile_interval), id=1
    )
    lease = acquire() if due.exists() else None
    if lease is None:
        return None
    try:
        if not due.update(passed_at=Now()):
            return None
        return run_checks(Scope(lease, hub or hub_named(config().hub), is_whole=False))
    finally:
        lease.release()


def run_checks(scope: Scope) -> Report:
    """Run every check; one that cannot read, or fails, says so and keeps no other. Raises LostTick."""
    report = Report(scope.dry_run)
    for check in CHECKS:
        scope.lease.renew()
        try:
            _run(check, scope, report)
        except CannotRead as error:
            report.incomplete[check.kind] = str(error)
            logger.warning("reconcile: %s: pass_incomplete: %s", check.kind, error)
        except LostTick:
            raise
        except Exception as error:  # one bad row or file keeps no other check from its work
            report.incomplete[check.kind] = repr(error)
            logger.exception("reconcile: %s: pass_incomplete", check.kind)
    return report


def _run(check: Check, scope: Scope, report: Report) -> None:
    found = list(check.find(scope))
    report.findings += found
    if found:
        report.found[check.kind] = len(found)
    if scope.dry_run:
        return
    with scope.lease.transaction():
        _note(check, found)
    if found:
        fixed = check.fix(scope, found)
        if fixed:
            report.fixed[check.kind] = fixed
    _close(check, scope)


def _note(check: Check, found: list[Found]) -> None:
    """Keep one row per finding while it is open; only the first sight is journalled."""
    subjects = [one.subject for one in found]
    known = Finding.objects.filter(kind=check.kind, subject__in=subjects, fixed_at__isnull=True)
    known.update(last_seen_at=Now())
    seen = set(known.values_list("subject", flat=True))
    new = list({one.subject: one for one in found if one.subject not in seen}.values())
    Finding.objects.bulk_create(
        Finding(kind=check.kind, subject=one.subject, detail=one.detail[:500], book_pk=one.book_pk) for one in new
    )
    books = {book.pk: book for book in Book.objects.filter(pk__in={one.book_pk for one in new})}
    for one in new:
        message = f"{one.subject}: {one.detail}"
        journal.record("found", books.get(one.book_pk or 0), reason=check.kind, message=message)


def _close(check: Check, scope: Scope) -> None:
    """Note what is right again."""
    mine = Finding.objects.filter(kind=check.kind, fixed_at__isnull=True)
    if scope.book_pk is not None:
        mine = mine.filter(book_pk=scope.book_pk)
    subjects = list(mine.values_list("subject", flat=True))
    if subjects:
        still = check.still(scope, subjects)
        with scope.lease.transaction():
            mine.filter(subject__in=set(subjects) - still).update(fixed_at=Now())


def _acquire_patiently() -> Lease | None:
    until = time.monotonic() + WAIT_FOR_TICK_S
    while True:
        lease = acquire()
        if lease is not None or time.monotonic() > until:
            return lease
        time.sleep(POLL_S)
