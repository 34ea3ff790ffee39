"""What the checks on assets share."""

from collections.abc import Iterable, Sequence

from django.db.models import Q

from generation import journal
from generation.bulk import among
from generation.lifecycle import State
from generation.models import Asset, Book
from generation.querysets import AssetQuerySet

from .base import Found, Scope

PREFIX = "asset "
# What is there to be seen, and may not be without its file.
SHOWN = (State.READY, State.PLACEHOLDER)


def found_of(asset: Asset, detail: str) -> Found:
    return Found(f"{PREFIX}{asset.pk}", detail, asset.book_id, asset.pk)


def pks_of(subjects: Sequence[str]) -> list[int]:
    return [int(subject.removeprefix(PREFIX)) for subject in subjects]


def still_among(assets: AssetQuerySet, subjects: Sequence[str]) -> set[str]:
    """Return which of the subjects are among the assets."""
    found = assets.filter(among("pk", pks_of(subjects))).order_by().values_list("pk", flat=True)
    return {f"{PREFIX}{pk}" for pk in found}


def make_dirty(scope: Scope, found: Iterable[Found], wrong: Q, reason: str) -> int:
    """Move the assets of which `wrong` is still true to dirty, book by book; return how many were."""
    by_book: dict[int, list[int]] = {}
    for one in found:
        if one.book_pk is not None and one.asset_pk is not None:
            by_book.setdefault(one.book_pk, []).append(one.asset_pk)
    moved = 0
    for book_pk, pks in by_book.items():
        with scope.lease.transaction():
            Book.objects.lock([book_pk])
            still = Asset.objects.filter(wrong, among("pk", pks), state__in=SHOWN).order_by()
            # Fixed, because what follows changes which they are.
            assets = Asset.objects.filter(among("pk", list(still.values_list("pk", flat=True)))).order_by()
            journal.record_move("repaired", assets, State.DIRTY, reason)
            moved += assets.move(SHOWN, State.DIRTY)
    return moved
