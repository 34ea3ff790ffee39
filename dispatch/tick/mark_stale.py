"""Step 4: ready assets whose inputs changed become dirty. It marks, never schedules."""

from django.db.models import Exists, OuterRef

from generation import freshness, journal
from generation.bulk import among
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
            Book.objects.lock({book for _, book in flagged})
            _mark([pk for pk, _ in flagged])
    reach(Boundary.MARKED_STALE)


def _mark(scene_pks: list[int]) -> None:
    off = LayerConfig.objects.filter(book=OuterRef("book"), stage=OuterRef("stage"), enabled=False)
    ready = Asset.objects.filter(~Exists(off), freshness.stale(), scene__in=scene_pks, state=State.READY)
    stale = Asset.objects.filter(among("pk", ready.order_by().values_list("pk", flat=True)))
    journal.record_move("marked_stale", stale, State.DIRTY)
    stale.move(State.READY, State.DIRTY)
    Scene.objects.filter(pk__in=scene_pks).update(recheck=False)
