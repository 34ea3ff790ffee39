"""Opening and closing targets: what commands do to work, for any number of assets in a fixed number of statements."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import chain
from typing import Any

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Now

from generation import journal
from generation.bulk import among, insert_from
from generation.lifecycle import COMMANDED, State, sources_of
from generation.models import Asset, Book, Command, ForceSet, LayerConfig, Target, Task
from generation.querysets import AssetQuerySet
from generation.stages import STAGES, StageName

from .planning import Plan

FORCE_SET_S = 120


def new_intent() -> dict[str, Any]:
    """Return the columns of an asset that a command changes: everything older is fenced, every limit is fresh."""
    return {
        "intent": F("intent") + 1,
        "retries_left": Case(*(When(stage=stage.name, then=Value(stage.retries)) for stage in STAGES.values())),
        "deferred_until": None,
        "deferral_reason": "",
        "retry_type": "",
        "retry_worker": "",
        "refusal_reason": "",
        "refusal_count": 0,
    }


def queue(command: Command, book: Book, planned: Plan, *, lifts: Iterable[StageName] | None = None) -> list[int]:
    """Make the planned assets pending under one task per stage, and return the tasks.

    `lifts` are the stages whose tombstone goes, by default those that get a task. Older open targets of the same
    assets are superseded; the force set lets each replace a live dispatch, once.
    """
    wanted = {name: stage_plan.targets for name, stage_plan in planned.stages.items() if stage_plan.targets}
    lifted = list(wanted if lifts is None else lifts)
    LayerConfig.objects.filter(book=book, stage__in=lifted).update(cancelled_at=None, cancelled_by="")
    if not wanted:
        return []
    made = Task.objects.bulk_create(Task(command=command, book=book, stage=name) for name in wanted)
    tasks = {StageName(task.stage): task.pk for task in made}
    _open_targets(command, book, tasks, sorted(chain.from_iterable(wanted.values())))
    ForceSet.objects.create(command=command, expires_at=Now() + timedelta(seconds=FORCE_SET_S))
    return list(tasks.values())


def _open_targets(command: Command, book: Book, tasks: dict[StageName, int], asset_pks: Sequence[int]) -> None:
    assets = Asset.objects.filter(among("pk", asset_pks)).order_by()
    older = Target.objects.filter(among("asset", asset_pks), status=Target.Status.OPEN)
    older.update(status=Target.Status.SUPERSEDED)
    task = Case(*(When(stage=name, then=Value(pk)) for name, pk in tasks.items()))
    insert_from(Target, assets, task=task, asset=F("pk"), intent=F("intent") + 1)
    journal.record_command(command, book, assets, State.PENDING)
    assets.move(
        sources_of(State.PENDING),
        State.PENDING,
        priority=0,
        pending_since=Now(),
        stand_in="",
        failure_reason="",
        failure_message="",
        **new_intent(),
    )


def close_tasks(tasks: Sequence[Task], status: Task.Status | None = None, reason: str = "") -> None:
    """Close the tasks with the counts of their targets; without a status, failed if a target failed."""
    counts: dict[int, dict[str, int]] = {task.pk: {} for task in tasks}
    counted = Target.objects.filter(task__in=tasks).order_by().values_list("task", "status")
    for task_pk, target_status, number in counted.annotate(number=Count("pk")):
        counts[task_pk][target_status] = number
    for task in tasks:
        task.counts = counts[task.pk]
        failed = task.counts.get(Target.Status.FAILED, 0)
        task.status = status or (Task.Status.FAILED if failed else Task.Status.COMPLETED)
        task.reason = reason
        task.closed_at = Now()
    Task.objects.bulk_update(tasks, ["counts", "status", "reason", "closed_at"])


def commanded_assets(book: Book, stages: Iterable[str]) -> AssetQuerySet:
    """Return the assets of these stages that are queued, generating or targeted: what a stop takes back."""
    open_target = Exists(Target.objects.filter(asset=OuterRef("pk"), status=Target.Status.OPEN))
    return Asset.objects.filter(Q(state__in=COMMANDED) | Q(open_target), book=book, stage__in=list(stages))


def take_back(
    command: Command, book: Book, assets: AssetQuerySet, targets: QuerySet[Target], tasks: QuerySet[Task]
) -> None:
    """Cancel these tasks and their open targets; queued and generating assets become dirty.

    The intent rises, which fences every dispatch in flight; the tick clears those at the hub. Windows do not go on by
    themselves after anything was taken back.
    """
    touched = Asset.objects.filter(among("pk", assets.order_by().values_list("pk", flat=True))).order_by()
    journal.record_command(command, book, touched, State.DIRTY, COMMANDED)
    targets.filter(status=Target.Status.OPEN).update(status=Target.Status.CANCELLED)
    close_tasks(list(tasks.filter(status__in=Task.LIVE)), Task.Status.CANCELLED, reason=command.kind)
    # Each row is written once: a second statement would wade through what the first left behind.
    touched.exclude(state__in=COMMANDED).update(**new_intent())
    touched.move(COMMANDED, State.DIRTY, **new_intent())
