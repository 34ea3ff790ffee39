"""Step 5: who is next, fairly. Reads only."""

import uuid
from collections.abc import Collection, Iterable

from django.db.models import Case, Count, F, IntegerField, OuterRef, Q, Subquery, Value, When, Window
from django.db.models.functions import Coalesce, RowNumber

from dispatch.models import Dispatch
from generation import gate
from generation.lifecycle import DISPATCHABLE
from generation.models import Asset, LayerConfig
from generation.querysets import AssetQuerySet
from generation.stages import StageName

from .context import Candidate, Run

# Candidates per free slot: some may be refused on the way.
PER_SLOT = 2
# More than any book has.
MOST_PLACES = 10**9


def select(run: Run, stages: Iterable[StageName]) -> list[Candidate]:
    """Return at most 2 × (quota − in use) candidates per stage, none when that is 0.

    Books with fewer live dispatches of the stage come first, then the one not served for longest; inside a book
    priority, then reading order. Assets replaced by force come before all: their slot is theirs.
    """
    if not run.capacity_ok:
        return []
    chosen: list[Candidate] = []
    asked_for = set(Asset.objects.in_state(*DISPATCHABLE).order_by().values_list("stage", flat=True).distinct())
    for stage in sorted(stage for stage in stages if stage in asked_for):
        free = run.quotas[stage] - run.active.get(stage, 0)
        if free > 0:
            chosen += _of_stage(stage, free * PER_SLOT, run.replaced)
    run.report.processed = len(chosen)
    return chosen


def _of_stage(stage: StageName, limit: int, replaced: set[int]) -> list[Candidate]:
    first = in_order(stage, replaced, limit).values_list("pk", "book", "intent")[:limit]
    return [Candidate(asset_pk, book_pk, stage, intent, uuid.uuid4().hex) for asset_pk, book_pk, intent in first]


def in_order(stage: StageName, replaced: Collection[int] = (), of_each: int = MOST_PLACES) -> AssetQuerySet:
    """Return the assets of the stage that may start, in the order they are taken in; the first `of_each` book."""
    live = (
        Dispatch.objects.filter(book=OuterRef("book"), stage=stage, status=Dispatch.Status.ACTIVE)
        .order_by()
        .values("book")
        .annotate(number=Count("pk"))
        .values("number")
    )
    layer = LayerConfig.objects.filter(book=OuterRef("book"), stage=stage)
    place = Window(
        RowNumber(), partition_by=[F("book")], order_by=[F("urgency").desc(), F("position").asc(), F("pk").asc()]
    )
    return (
        Asset.objects.filter(gate.may_start({stage}), ~Q(dispatches__status=Dispatch.Status.ACTIVE))
        .filter(state__in=DISPATCHABLE, stage=stage)
        .with_urgency()
        .annotate(
            place=place,
            live=Coalesce(Subquery(live, output_field=IntegerField()), 0),
            served_at=Subquery(layer.values("last_dispatched_at")[:1]),
            forced=Case(When(pk__in=replaced, then=Value(0)), default=Value(1)),
        )
        .filter(place__lte=of_each)
        .order_by("forced", F("live") + F("place"), F("served_at").asc(nulls_first=True), "book", "position")
    )
