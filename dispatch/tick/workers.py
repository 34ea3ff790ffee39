"""Which stages have a live worker, read once per tick; tasks that nobody can work on are blocked."""

from collections.abc import Mapping

from django.db.models import Exists, OuterRef
from django.db.models.functions import Coalesce, Now

from dispatch.config import config
from dispatch.hubs.base import HubUnavailable
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
        counts = run.hub.workers()
    except HubUnavailable as error:
        run.report.error("hub_unavailable", message=str(error))
        return set()
    _note(run, counts)
    for name in STAGES:
        if not counts.get(name) and _missing_for_long(name):
            _block(run, name)
    return {name for name in STAGES if counts.get(name)}


def _note(run: Run, counts: Mapping[str, int]) -> None:
    with run.lease.transaction():
        for name in STAGES:
            count = counts.get(name, 0)
            row, _ = StageWorkers.objects.get_or_create(stage=name)
            seen = (
                {"seen_at": Now(), "absent_since": None} if count else {"absent_since": Coalesce("absent_since", Now())}
            )
            StageWorkers.objects.filter(pk=row.pk).update(count=count, read_at=Now(), **seen)


def _missing_for_long(stage: StageName) -> bool:
    """True when none was ever seen, or none was read for the whole grace."""
    row = StageWorkers.objects.filter(stage=stage)
    return (
        row.filter(seen_at__isnull=True).exists()
        or row.filter(absent_since__lte=Now() - config().no_worker_grace).exists()
    )


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
