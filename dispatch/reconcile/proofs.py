"""Ready or placeholder without anything to show."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from django.db.models import Exists, OuterRef, Q

from generation import store
from generation.lifecycle import State
from generation.models import ArtifactFile, Asset
from generation.querysets import AssetQuerySet
from generation.roles import MAIN

from .base import BATCH, CannotRead, Found, Scope
from .missing_files import require_storage
from .rows import found_of, make_dirty, pks_of


class Proofs:
    kind = "shown_without_proof"
    words = "An asset is ready or a placeholder, and there is nothing to show."
    fix_words = "It becomes out of date. It is never queued by itself."

    def find(self, scope: Scope) -> Iterable[Found]:
        for asset in _of_scope(Asset.objects.filter(_ready_without_file()), scope):
            yield found_of(asset, "ready without a file")
        require_storage()
        stand_ins = _of_scope(Asset.objects.filter(state=State.PLACEHOLDER), scope).order_by("pk")
        for number, asset in enumerate(stand_ins.iterator(BATCH)):
            if number % BATCH == 0:
                scope.lease.renew()
            if not _is_there(asset.stand_in):
                yield replace(found_of(asset, f"{asset.stand_in} is missing"), file=asset.stand_in)

    def fix(self, scope: Scope, found: Sequence[Found]) -> int:
        missing = Q(state=State.PLACEHOLDER, stand_in__in=[one.file for one in found if one.file])
        return make_dirty(scope, found, missing | _ready_without_file(), "without_proof")

    def still(self, scope: Scope, subjects: Sequence[str]) -> set[str]:
        wanted = set(subjects)
        found = {one.subject for one in self.find(scope)} if pks_of(subjects) else set()
        return wanted & found


def _ready_without_file() -> Q:
    main = ArtifactFile.objects.filter(artifact=OuterRef("published"), role=MAIN)
    return Q(state=State.READY) & ~Q(Exists(main))


def _of_scope(assets: AssetQuerySet, scope: Scope) -> AssetQuerySet:
    return assets if scope.book_pk is None else assets.filter(book=scope.book_pk)


def _is_there(name: str) -> bool:
    try:
        return store.storage().exists(name)
    except OSError as error:
        raise CannotRead(f"{name}: {error}") from error
