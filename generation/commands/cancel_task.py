"""Cancel one task: its own open targets, and nothing else of its book."""

from dataclasses import dataclass
from typing import Any

from generation.exceptions import NotFound
from generation.models import Asset, Book, Command, Target, Task
from generation.querysets import AssetQuerySet

from . import auto_next, cancel
from .answers import PK_LIMIT, Actor, Asked, answer_once
from .permissions import STOP
from .scopes import Scope
from .targets import take_back


@dataclass(frozen=True)
class Request:
    task_pk: int


@dataclass(frozen=True)
class Plan:
    """What ends, as for Stop all. A task that has ended before says how, and nothing of it ends now."""

    status: str
    taken: cancel.Plan

    def answer(self) -> dict[str, Any]:
        """Return the answer of `cancel.Plan.answer()` with the status that the task had before."""
        return {"was": self.status, **self.taken.answer()}


def plan(request: Request) -> Plan:
    """Return what would leave the queue and what would be abandoned. Reads only. Raises NotFound."""
    return _plan(_task(request.task_pk))


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Cancel the task and return the answer of `Plan.answer()`. Raises what `plan` raises."""

    def act(book: Book, command: Command) -> dict[str, Any]:
        task = _task(request.task_pk)
        answer = _plan(task).answer()
        if task.status in Task.LIVE:
            targets = Target.objects.filter(task=task)
            take_back(command, book, _targeted(task), targets, Task.objects.filter(pk=task.pk))
            if task.command.params.get("scope") == Scope.NEXT_WINDOW:
                auto_next.switch_off(book, f"a task of the window was cancelled by {actor.name}")
        return answer

    params = {"task": request.task_pk}
    asked = Asked(Command.Kind.CANCEL_TASK, None, params, (STOP,), lambda: _task(request.task_pk).book_id)
    return answer_once(asked, actor, key, act)


def _task(pk: int) -> Task:
    task = Task.objects.filter(pk=pk).select_related("command").first() if 0 < pk < PK_LIMIT else None
    if task is None:
        raise NotFound(f"There is no task {pk}.")
    return task


def _targeted(task: Task) -> AssetQuerySet:
    return Asset.objects.filter(targets__task=task, targets__status=Target.Status.OPEN)


def _plan(task: Task) -> Plan:
    return Plan(task.status, cancel.Plan.of(_targeted(task)))
