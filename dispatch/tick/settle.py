"""Step 3: close what is done, and put back what is still asked for."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q

from dispatch.models import Dispatch
from generation import gate, journal
from generation.bulk import among
from generation.commands import window
from generation.commands.targets import close_tasks
from generation.lifecycle import State
from generation.models import Asset, Book, Target, Task
from generation.querysets import AssetQuerySet
from generation.stages import STAGES

from .boundaries import Boundary, reach
from .context import Run


def settle(run: Run) -> None:
    books = _books_to_settle()
    if books:
        with run.lease.transaction():
            settle_books(books)
    reach(Boundary.SETTLED)


def settle_books(books: Iterable[int]) -> None:
    """Settle these books, in a transaction of the tick."""
    locked = {book.pk: book for book in Book.objects.lock(books)}
    _repair(ghosts(), State.GENERATING, "no_active_dispatch", locked)
    _repair(uncommanded(), State.PENDING, gate.NO_ACTIVE_TASK, locked)
    _fail_without_dependency(locked)
    _requeue_dirty(locked)
    _close_tasks(locked)


def _open_target(**conditions: object) -> Exists:
    return Exists(Target.objects.filter(asset=OuterRef("pk"), status=Target.Status.OPEN, **conditions))


def _books_to_settle() -> set[int]:
    return {
        *uncommanded().values_list("book", flat=True),
        *Task.objects.filter(_is_settled()).values_list("book", flat=True),
        *ghosts().values_list("book", flat=True),
        *_dirty_but_wanted().values_list("book", flat=True),
        *_without_dependency().values_list("book", flat=True),
    }


def _is_settled() -> Q:
    return Q(status__in=Task.LIVE) & ~Q(Exists(Target.objects.filter(task=OuterRef("pk"), status=Target.Status.OPEN)))


def _dirty_but_wanted() -> AssetQuerySet:
    return Asset.objects.filter(_open_target(task__status__in=Task.LIVE, intent=OuterRef("intent")), state=State.DIRTY)


def _without_dependency() -> AssetQuerySet:
    lacking = Q(pk__in=[])
    for stage in STAGES.values():
        for need in stage.needs:
            lacking |= Q(stage=stage.name) & Q(gate.missing(need))
    return Asset.objects.filter(lacking, _open_target(), state=State.PENDING)


def ghosts() -> AssetQuerySet:
    """Generating without an active dispatch: nothing of ours writes that, whatever it was must not stand for ever."""
    active = Dispatch.objects.filter(asset=OuterRef("pk"), status=Dispatch.Status.ACTIVE)
    return Asset.objects.filter(~Exists(active), state=State.GENERATING)


def uncommanded() -> AssetQuerySet:
    """Pending without an open target of a live task: a task's rows were deleted by hand. Nobody asks for it now."""
    return Asset.objects.filter(~_open_target(task__status__in=Task.LIVE), state=State.PENDING)


def _repair(assets: AssetQuerySet, source: State, reason: str, locked: dict[int, Book]) -> None:
    found = _fixed(assets, locked)
    journal.record_move("repaired", found, State.DIRTY, reason)
    found.move(source, State.DIRTY)


def _fixed(assets: AssetQuerySet, locked: dict[int, Book]) -> AssetQuerySet:
    """Return the assets of the locked books as they are now: what follows must not change which they are."""
    pks = assets.filter(book__in=locked).order_by().values_list("pk", flat=True)
    return Asset.objects.filter(among("pk", pks)).order_by()


def _fail_without_dependency(locked: dict[int, Book]) -> None:
    assets = _fixed(_without_dependency(), locked)
    Target.objects.filter(asset__in=assets, status=Target.Status.OPEN).update(status=Target.Status.FAILED)
    journal.record_move("settled", assets, State.FAILED, "dependency_failed")
    assets.move(
        State.PENDING,
        State.FAILED,
        failure_reason="dependency_failed",
        failure_message="What it is made from is not there and nobody asked for it.",
    )


def _requeue_dirty(locked: dict[int, Book]) -> None:
    assets = _fixed(_dirty_but_wanted(), locked)
    journal.record_move("requeued", assets, State.PENDING)
    assets.move(State.DIRTY, State.PENDING)


def _close_tasks(locked: dict[int, Book]) -> None:
    """Close tasks without an open target, with the counts of their targets; a finished window may be followed."""
    settled = Task.objects.filter(_is_settled(), book__in=locked).select_related("command").order_by("pk")
    tasks = list(settled.select_for_update(no_key=True, of=("self",)))
    close_tasks(tasks)
    for book in locked.values():
        window.follow(book, {task.command_id: task.command for task in tasks if task.book_id == book.pk}.values())
