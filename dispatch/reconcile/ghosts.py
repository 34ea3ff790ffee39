"""Generating without an active dispatch, or queued without a task: nothing of ours writes that."""

from collections.abc import Iterable, Sequence

from dispatch.tick import settle
from generation.models import Asset
from generation.querysets import AssetQuerySet

from .base import Found, Scope
from .rows import found_of, still_among


class Ghosts:
    kind = "running_without_dispatch"
    words = "An asset is shown as generating or queued, and nothing makes it."
    fix_words = "It goes back to queued if it is asked for, else it becomes out of date."

    def find(self, scope: Scope) -> Iterable[Found]:
        return [found_of(asset, f"{asset.state}, and nothing makes it") for asset in _assets(scope)]

    def fix(self, scope: Scope, found: Sequence[Found]) -> int:
        with scope.lease.transaction():
            settle.settle_books({one.book_pk for one in found if one.book_pk is not None})
        return len(found) - len(self.still(scope, [one.subject for one in found]))

    def still(self, scope: Scope, subjects: Sequence[str]) -> set[str]:
        return still_among(_assets(scope), subjects)


def _assets(scope: Scope) -> AssetQuerySet:
    assets: AssetQuerySet = Asset.objects.filter(pk__in=[*_pks(settle.ghosts()), *_pks(settle.uncommanded())])
    return assets if scope.book_pk is None else assets.filter(book=scope.book_pk)


def _pks(assets: AssetQuerySet) -> list[int]:
    return list(assets.order_by().values_list("pk", flat=True))
