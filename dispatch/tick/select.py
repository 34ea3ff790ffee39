"""Step 5: who is next, fairly. Reads only."""

import uuid
from collections.abc import Collection, Iterable

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from dispatch.capacity.standing import Circuit, Standing
from dispatch.models import Dispatch
from generation import gate
from generation.lifecycle import DISPATCHABLE
from generation.models import Asset, Book, LayerConfig, Task
from generation.querysets import AssetQuerySet
from generation.stages import StageName

from .context import Candidate, Run

# Candidates per free slot: some may be refused on the way.
PER_SLOT = 2


def select(run: Run, stages: Iterable[StageName]) -> list[Candidate]:
    """Return at most 2 × (quota − in use) candidates per stage, none when that is 0.

    Books with fewer live dispatches of the stage come first, then the one not served for longest; inside a book
    priority, then reading order. Assets replaced by force come before all: their slot is theirs. Retries that no budget
    is left for are not asked for, and what tests a circuit is no retry, if there is anything else.
    """
    if not run.capacity_ok:
        return []
    chosen: list[Candidate] = []
    asked_for = set(Asset.objects.in_state(*DISPATCHABLE).order_by().values_list("stage", flat=True).distinct())
    for stage in sorted(stage for stage in stages if stage in asked_for):
        free = run.quotas[stage] - run.active.get(stage, 0)
        if free > 0:
            chosen += _of_stage(stage, free * PER_SLOT, run.replaced, run.standings.get(stage, Standing()))
    run.report.processed = len(chosen)
    return chosen


def _of_stage(stage: StageName, limit: int, replaced: set[int], standing: Standing) -> list[Candidate]:
    order = [*_startable(stage, standing, replaced), *in_order(stage, standing, of_each=limit)]
    wanted = list(dict.fromkeys(order))[:limit]
    fields = ("pk", "book", "intent", "retry_type", "retry_worker")
    rows = {row[0]: row for row in Asset.objects.filter(pk__in=wanted).values_list(*fields)}
    found = [rows[pk] for pk in wanted if pk in rows]
    return [
        Candidate(pk, book, stage, intent, uuid.uuid4().hex, kind, worker) for pk, book, intent, kind, worker in found
    ]


def _startable(stage: StageName, standing: Standing, replaced: Collection[int]) -> list[int]:
    """Return those of the replaced assets that may start."""
    if not replaced:
        return []
    found = _may_start(stage, standing).filter(pk__in=replaced)
    return list(found.order_by("queue_rank", "position").values_list("pk", flat=True))


def in_order(stage: StageName, standing: Standing, of_each: int | None = None) -> list[int]:
    """Return the assets of the stage that may start, in the order they are taken in; the first `of_each` book.

    The database walks each book's own queue along an index and stops after so many, however long the queues are.
    """
    may_start = _may_start(stage, standing)
    if standing.circuit != Circuit.CLOSED:
        tests = _merged(_queues(stage, may_start.filter(retry_type=""), of_each))
        if tests:
            return tests
    return _merged(_queues(stage, may_start, of_each))


def _may_start(stage: StageName, standing: Standing) -> AssetQuerySet:
    dispatched = Dispatch.objects.filter(asset=OuterRef("pk"), status=Dispatch.Status.ACTIVE)
    found = Asset.objects.filter(gate.may_start({stage}), ~Exists(dispatched), state__in=DISPATCHABLE, stage=stage)
    if standing.spent_types:
        found = found.exclude(retry_type__in=standing.spent_types)
    if standing.spent_workers:
        found = found.exclude(retry_worker__in=standing.spent_workers)
    return found


Queue = tuple[int, int, float, list[int]]


def _queues(stage: StageName, may_start: AssetQuerySet, of_each: int | None) -> list[Queue]:
    """Return (book, live dispatches, when it was served, its first assets) of the books with an active task."""
    live = Dispatch.objects.filter(book=OuterRef("pk"), stage=stage, status=Dispatch.Status.ACTIVE)
    counted = live.order_by().values("book").annotate(number=Count("pk")).values("number")
    served = LayerConfig.objects.filter(book=OuterRef("pk"), stage=stage).order_by().values("last_dispatched_at")
    first = may_start.filter(book=OuterRef("pk")).order_by("queue_rank", "position").values("pk")[:of_each]
    tasks = Task.objects.filter(book=OuterRef("pk"), stage=stage, status=Task.Status.ACTIVE)
    books = Book.objects.filter(Exists(tasks), ~Q(gate.shut(stage))).annotate(
        live=Coalesce(Subquery(counted, output_field=IntegerField()), 0),
        served_at=Subquery(served),
        first=ArraySubquery(first),
    )
    rows = books.order_by().values_list("pk", "live", "served_at", "first")
    return [(pk, live, at.timestamp() if at else 0.0, list(pks)) for pk, live, at, pks in rows]


def _merged(queues: Iterable[Queue]) -> list[int]:
    """Deal the queues out: the book with the fewest dispatches if it got one more, then the one served longest ago."""
    places = [
        (live + place, served, book, pk) for book, live, served, pks in queues for place, pk in enumerate(pks, start=1)
    ]
    return [pk for _, _, _, pk in sorted(places, key=lambda place: place[:3])]
