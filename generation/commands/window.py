"""The window that follows a finished one, when the operator switched that on."""

from collections.abc import Iterable

from generation.exceptions import GenerationError
from generation.models import Book, Command, LayerConfig, Target, Task

from . import auto_next, regenerate
from .answers import Actor
from .planning import ALREADY_QUEUED, stages_asked
from .scopes import Scope


def follow(book: Book, commands: Iterable[Command]) -> None:
    """Issue the next window for each of these commands that was one and is done, in the caller's transaction.

    Call under the Book lock, after the tasks were closed. It is issued once per window, whoever calls again; anything
    but a finished window switches following off, with the reason.
    """
    for command in commands:
        book.refresh_from_db(fields=["auto_next_by"])
        is_window = command.kind == Command.Kind.REGENERATE and command.params.get("scope") == Scope.NEXT_WINDOW
        if is_window and book.auto_next_by is not None and not command.tasks.filter(status__in=Task.LIVE).exists():
            reason = _follow(book, command, Actor.of(book.auto_next_by))
            if reason:
                auto_next.switch_off(book, reason)


def _follow(book: Book, command: Command, operator: Actor) -> str:
    """Issue the next window and return an empty text, or return why none follows."""
    targets = Target.objects.filter(task__command=command)
    undone = targets.exclude(status=Target.Status.DONE).values_list("status", flat=True)
    if not targets.exists():
        return "its scenes were deleted"
    if undone:
        return f"not every scene of the window was done: {', '.join(sorted(set(undone)))}"
    request = regenerate.Request(
        book.pk, tuple(command.params["stages"]), Scope.NEXT_WINDOW, count=command.params["count"]
    )
    stages = [stage.name for stage in stages_asked(request.stages)]
    if LayerConfig.objects.filter(book=book, stage__in=stages, cancelled_at__isnull=False).exists():
        return "the book was stopped"
    try:
        answer = regenerate.apply(request, operator, f"auto_next:{command.pk}", lifts_tombstones=False)
    except GenerationError as error:
        return str(error)
    if answer["targets"]:
        return ""
    queued = any(ALREADY_QUEUED in stage["skipped"] for stage in answer["stages"].values())
    return "another command has asked for the next scenes" if queued else "the book has no further scene to make"
