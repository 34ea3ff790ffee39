"""A published file that the storage does not have any more."""

from collections.abc import Iterable, Sequence

from django.db.models import F, Q, QuerySet

from dispatch.models import ReconcileState
from generation import store
from generation.exceptions import StoreMismatch
from generation.models import ArtifactFile

from .base import BATCH, FILES_PER_PASS, CannotRead, Found, Scope
from .rows import PREFIX, make_dirty, pks_of


class MissingFiles:
    kind = "published_file_missing"
    words = "A published file is not in the storage."
    fix_words = "The asset becomes out of date. It is never queued by itself."

    def find(self, scope: Scope) -> Iterable[Found]:
        require_storage()
        files = _published().order_by("pk")
        if scope.book_pk is not None:
            files = files.filter(artifact__asset__book=scope.book_pk)
        start = 0 if scope.is_whole else _begin()
        looked = 0
        while rows := list(files.filter(pk__gt=start)[:BATCH]):
            scope.lease.renew()
            for file in rows:
                if not _is_there(file.name):
                    asset = file.artifact.asset
                    detail = f"{file.name} is missing"
                    yield Found(f"{PREFIX}{asset.pk}", detail, asset.book_id, asset.pk, file.name)
            start, looked = rows[-1].pk, looked + len(rows)
            if not scope.is_whole and looked >= FILES_PER_PASS:
                break
        if not scope.is_whole:
            ReconcileState.objects.filter(id=1).update(file_pk=start if looked >= FILES_PER_PASS else 0)

    def fix(self, scope: Scope, found: Sequence[Found]) -> int:
        # What was published meanwhile has other files.
        wrong = Q(published__files__name__in=[one.file for one in found])
        return make_dirty(scope, found, wrong, "file_missing")

    def still(self, scope: Scope, subjects: Sequence[str]) -> set[str]:
        require_storage()
        files = _published().filter(artifact__asset__in=pks_of(subjects))
        return {f"{PREFIX}{file.artifact.asset_id}" for file in files if not _is_there(file.name)}


def require_storage() -> None:
    """Raise CannotRead unless the storage is ours: one that is not mounted lacks every file."""
    try:
        store.verify_identity()
    except (OSError, StoreMismatch) as error:
        raise CannotRead(str(error)) from error


def _published() -> QuerySet[ArtifactFile]:
    files = ArtifactFile.objects.filter(artifact__asset__published=F("artifact"))
    return files.select_related("artifact__asset")


def _begin() -> int:
    ReconcileState.objects.get_or_create(id=1)
    return ReconcileState.objects.get(id=1).file_pk


def _is_there(name: str) -> bool:
    try:
        return store.storage().exists(name)
    except OSError as error:
        raise CannotRead(f"{name}: {error}") from error
