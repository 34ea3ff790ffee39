"""Open targets whose asset is gone: the database does not check them, and their task would never close."""

from collections.abc import Iterable, Sequence

from django.db.models import Exists, OuterRef, QuerySet

from generation.bulk import among, delete_rows
from generation.models import Asset, Book, Target

from .base import Found, Scope

PREFIX = "target "


class OrphanTargets:
    kind = "target_without_asset"
    words = "A task waits for an asset that is gone."
    fix_words = "It waits for it no longer."

    def find(self, scope: Scope) -> Iterable[Found]:
        rows = _orphans(scope).order_by("pk").values_list("pk", "task__book", "asset")
        return [Found(f"{PREFIX}{pk}", f"asset {asset_pk} is gone", book_pk) for pk, book_pk, asset_pk in rows]

    def fix(self, scope: Scope, found: Sequence[Found]) -> int:
        with scope.lease.transaction():
            Book.objects.lock({one.book_pk for one in found if one.book_pk is not None})
            return delete_rows(_orphans(scope).filter(among("pk", _pks(one.subject for one in found))))

    def still(self, scope: Scope, subjects: Sequence[str]) -> set[str]:
        found = _orphans(scope).filter(among("pk", _pks(subjects))).order_by().values_list("pk", flat=True)
        return {f"{PREFIX}{pk}" for pk in found}


def _orphans(scope: Scope) -> QuerySet[Target]:
    gone = ~Exists(Asset.objects.filter(pk=OuterRef("asset_id")))
    orphans = Target.objects.filter(gone, status=Target.Status.OPEN)
    return orphans if scope.book_pk is None else orphans.filter(task__book=scope.book_pk)


def _pks(subjects: Iterable[str]) -> list[int]:
    return [int(subject.removeprefix(PREFIX)) for subject in subjects]
