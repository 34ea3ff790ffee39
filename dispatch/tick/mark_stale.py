"""Step 4: ready assets whose inputs changed become dirty. It marks, never schedules."""

from collections.abc import Mapping

from generation import journal
from generation.freshness import is_stale
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
    assets = list(Asset.objects.filter(scene__in=scene_pks).select_related("scene", "published"))
    published = {(asset.scene_id, asset.stage): asset.published_id for asset in assets}
    off = set(LayerConfig.objects.filter(book__in=books, enabled=False).values_list("book", "stage"))
    stale = [
        asset
        for asset in assets
        if asset.state == State.READY
        and (asset.book_id, asset.stage) not in off
        and asset.published is not None
        and is_stale(asset, asset.published, published)
    ]
    moved = Asset.objects.filter(pk__in=[asset.pk for asset in stale]).move(State.READY, State.DIRTY) if stale else 0
    if moved:
        for asset in stale:
            change = journal.change_text(State.READY, State.DIRTY)
            journal.record("marked_stale", books[asset.book_id], journal.Subject.of(asset), change=change)
    Scene.objects.filter(pk__in=scene_pks).update(recheck=False)
