"""Files that no row owns: of results that never counted, of uploads nobody confirmed, of what was deleted."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from django.utils import timezone

from dispatch.models import Dispatch, Part, ReconcileState
from generation import store
from generation.models import ArtifactFile, Asset, Book

from .base import BATCH, FILES_PER_PASS, CannotRead, Found, Scope
from .missing_files import require_storage

# A result may wait in the mailbox for a day, an upload for its confirmation.
OLD = timedelta(days=1)
NAME_MAX = 200


class OrphanFiles:
    kind = "file_without_owner"
    words = "A file in the storage belongs to no row."
    fix_words = "It is removed a day after it was written."

    def find(self, scope: Scope) -> Iterable[Found]:
        if scope.book_pk is not None:
            return  # a file without an owner is of no book
        require_storage()
        for names in _batches(scope):
            for name in sorted(set(names) - _owned(names)):
                if _is_old(name):
                    yield Found(name, "no row owns it")

    def fix(self, scope: Scope, found: Sequence[Found]) -> int:
        names = [one.subject for one in found]
        removed = 0
        for name in set(names) - _owned(names):
            try:
                store.storage().delete(name)
            except OSError as error:
                raise CannotRead(f"{name}: {error}") from error
            removed += 1
        return removed

    def still(self, scope: Scope, subjects: Sequence[str]) -> set[str]:
        require_storage()
        return {name for name in set(subjects) - _owned(subjects) if _exists(name)}


def _batches(scope: Scope) -> Iterator[list[str]]:
    """Yield the names of stored files, folder by folder; where a slice ended is kept."""
    state, _ = ReconcileState.objects.get_or_create(id=1)
    start = "" if scope.is_whole else state.folder
    folders = sorted(folder for folder in _list("")[0] if folder > start)
    waiting: list[str] = []
    looked, reached = 0, ""
    for folder in folders:
        scope.lease.renew()
        waiting += [name for name in (f"{folder}/{file}" for file in _list(folder)[1]) if _could_be_ours(name)]
        if len(waiting) >= BATCH:
            yield waiting
            looked, waiting = looked + len(waiting), []
        if not scope.is_whole and looked >= FILES_PER_PASS:
            reached = folder
            break
    if waiting:
        yield waiting
    if not scope.is_whole:
        ReconcileState.objects.filter(id=1).update(folder=reached)


def _could_be_ours(name: str) -> bool:
    """False of a name that nothing of ours writes and no row could keep."""
    return len(name) <= NAME_MAX and name.isprintable()


def _owned(names: Sequence[str]) -> set[str]:
    """Return which of these files belong to a row, or may still become a result."""
    wanted = list(names)
    owned = set(ArtifactFile.objects.filter(name__in=wanted).values_list("name", flat=True))
    owned |= set(Asset.objects.filter(stand_in__in=wanted).values_list("stand_in", flat=True))
    owned |= set(Book.objects.filter(cover__in=wanted).values_list("cover", flat=True))
    left = [name for name in wanted if name not in owned]
    assets = {int(folder) for name in left if (folder := name.partition("/")[0]).isdecimal()}
    for files in Part.objects.filter(asset__in=assets).values_list("files", flat=True):
        owned |= {file["name"] for file in files.values()}
    active = Dispatch.objects.filter(asset_pk__in=assets, status=Dispatch.Status.ACTIVE)
    for dispatch_id in active.values_list("dispatch_id", flat=True):
        owned |= {name for name in left if dispatch_id in name}
    return owned


def _is_old(name: str) -> bool:
    try:
        return store.storage().get_modified_time(name) < timezone.now() - OLD
    except FileNotFoundError:
        return False
    except OSError as error:
        raise CannotRead(f"{name}: {error}") from error


def _exists(name: str) -> bool:
    try:
        return store.storage().exists(name)
    except OSError as error:
        raise CannotRead(f"{name}: {error}") from error


def _list(folder: str) -> tuple[list[str], list[str]]:
    try:
        return store.storage().listdir(folder)
    except FileNotFoundError:
        return [], []
    except OSError as error:
        raise CannotRead(f"{folder}: {error}") from error
