"""Which stages have a live worker, read once per tick; tasks that nobody can work on are blocked."""

from collections import Counter

from django.db.models import Case, Exists, F, OuterRef, Q, Value, When
from django.db.models.functions import Coalesce, Now

from dispatch.config import config
from dispatch.hubs.base import HubUnavailable, ready
from dispatch.models import StageWorkers
from generation import gate, journal
from generation.lifecycle import DISPATCHABLE
from generation.models import Asset, Book, Target, Task
from generation.stages import STAGES, StageName

from .context import Run

NO_WORKER = "no_worker:"


def stages_with_workers(run: Run) -> set[StageName]:
    """Return the stages work may be selected for. A stage whose workers cannot be read waits; it blocks nothing."""
    try:
        workers = run.hub.workers()
    except HubUnavailable as error:
        run.report.error("hub_unavailable", message=str(error))
        return set()
    counts = ready(workers)
    _note(run, counts, Counter(worker.stage for worker in workers if worker.is_draining))
    for name in sorted(_missing_for_long()):
        _block(run, name)
    return {name for name in STAGES if counts.get(name)}


def _note(run: Run, counts: Counter[str], draining: Counter[str]) -> None:
    """Note what was read. A worker that finishes its last job is present: nobody is to be called for it."""
    present = Q(stage__in=[name for name in STAGES if counts[name] or draining[name]])
    noted = {
        "count": _by_stage(counts),
        "draining": _by_stage(draining),
        "read_at": Now(),
        "seen_at": Case(When(present, then=Now()), default=F("seen_at")),
        "absent_since": Case(When(present, then=None), default=Coalesce("absent_since", Now())),
    }
    with run.lease.transaction():
        if StageWorkers.objects.filter(stage__in=STAGES).update(**noted) < len(STAGES):
            StageWorkers.objects.bulk_create([StageWorkers(stage=name) for name in STAGES], ignore_conflicts=True)
            StageWorkers.objects.filter(stage__in=STAGES).update(**noted)


def _by_stage(counts: Counter[str]) -> Case:
    return Case(*(When(stage=name, then=Value(counts[name])) for name in STAGES), default=Value(0))


def _missing_for_long() -> set[StageName]:
    """Return the stages without a worker of which none was ever seen, or none was read for the whole grace."""
    gone = Q(seen_at__isnull=True) | Q(absent_since__lte=Now() - config().no_worker_grace)
    missing = StageWorkers.objects.filter(gone, stage__in=STAGES, count=0, draining=0)
    return {StageName(name) for name in missing.values_list("stage", flat=True)}


def _block(run: Run, stage: StageName) -> None:
    """Block the stage's active tasks that have something to start."""
    startable = Asset.objects.filter(gate.may_start({stage}), state__in=DISPATCHABLE, stage=stage)
    has_startable = Exists(Target.objects.filter(task=OuterRef("pk"), status=Target.Status.OPEN, asset__in=startable))
    tasks = Task.objects.filter(has_startable, stage=stage, status=Task.Status.ACTIVE)
    books = set(tasks.values_list("book", flat=True))
    if not books:
        return
    with run.lease.transaction():
        locked = {book.pk: book for book in Book.objects.lock(books)}
        blocked = list(tasks.filter(book__in=locked).order_by("pk").select_for_update(no_key=True, of=("self",)))
        Task.objects.filter(pk__in=[task.pk for task in blocked], status=Task.Status.ACTIVE).update(
            status=Task.Status.BLOCKED, reason=f"{NO_WORKER}{stage}"
        )
        for task in blocked:
            journal.record(
                "task_blocked", locked[task.book_id], reason=f"{NO_WORKER}{stage}", message=f"task {task.pk}"
            )
