"""Step 4: ready assets whose inputs changed become dirty. It marks, never schedules."""

from collections.abc import Mapping

from django.db.models import Exists, OuterRef

from generation import freshness, journal
from generation.lifecycle import State
from generation.models import Asset, Book, LayerConfig, Scene

from .boundaries import Boundary, reach
from .context import Run

# Scenes looked at per tick; an edit of more is finished by the next ticks.
SCENES_PER_TICK = 500


def mark_stale(run: Run) -> None:
    flagged = list(Scene.objects.filter(recheck=True).order_by("pk").values_list("pk", "book")[:SCENES_PER_TICK])
    if flagged:
        with run.lease.transaction():
            books = {book.pk: book for book in Book.objects.lock({book for _, book in flagged})}
            _mark([pk for pk, _ in flagged], books)
    reach(Boundary.MARKED_STALE)


def _mark(scene_pks: list[int], books: Mapping[int, Book]) -> None:
    off = LayerConfig.objects.filter(book=OuterRef("book"), stage=OuterRef("stage"), enabled=False)
    ready = Asset.objects.filter(~Exists(off), freshness.stale(), scene__in=scene_pks, state=State.READY)
    stale = list(ready.only("scene_id", "book_id", "stage"))
    Asset.objects.filter(pk__in=[asset.pk for asset in stale]).move(State.READY, State.DIRTY)
    change = journal.change_text(State.READY, State.DIRTY)
    for asset in stale:
        journal.record("marked_stale", books[asset.book_id], journal.Subject.of(asset), change=change)
    Scene.objects.filter(pk__in=scene_pks).update(recheck=False)
