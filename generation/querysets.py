"""The vocabulary of questions and guarded writes on books and assets."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from django.db import connection, models
from django.db.models.functions import Now

from . import lifecycle
from .lifecycle import State

if TYPE_CHECKING:
    from .models import Asset, Book, LayerConfig  # noqa: F401 - named in base classes


class BookQuerySet(models.QuerySet["Book"]):
    def lock(self, pks: Iterable[int]) -> list["Book"]:
        """Lock the rows in id order, in a statement of its own, and return those that still exist.

        Whoever changes or relies on a book's commands holds its row. What depends on the lock must be read by a
        later statement: one that locks and reads at once still judges by what it saw before it waited.
        """
        if not connection.in_atomic_block:
            raise RuntimeError("a lock outside a transaction is no lock")
        return list(self.filter(pk__in=sorted(set(pks))).order_by("pk").select_for_update(no_key=True))


class LayerConfigQuerySet(models.QuerySet["LayerConfig"]):
    def set(self, book: "Book", stages: Iterable[str], **values: Any) -> None:
        """Set `values` on the layers of these stages, which need not exist yet, in two statements for any number."""
        names = list(stages)
        self.bulk_create([self.model(book=book, stage=name) for name in names], ignore_conflicts=True)
        if values:
            self.filter(book=book, stage__in=names).update(**values)


class AssetQuerySet(models.QuerySet["Asset"]):
    def in_state(self, *states: State) -> Self:
        return self.filter(state__in=states)

    def move(self, source: State | Iterable[State], target: State, *, proven: bool = False, **values: Any) -> int:
        """Move the assets that are in `source` to `target` and set `values`; return how many were.

        `proven` says that a file is there already, which leads to ready without a job.
        Raises TransitionRefused when the lifecycle has no way from a source to the target, whatever rows exist.
        """
        sources = [source] if isinstance(source, State) else list(source)
        for state in sources:
            lifecycle.route(state, target, proven=proven)
        if target != State.GENERATING:
            values.update(making_content_version=0, making_audio_config_version=0)
            values.update(progress_percent=0, parts_done=0, parts_total=0)
        return self.filter(state__in=sources).update(state=target, changed_at=Now(), **values)
