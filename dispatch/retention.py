"""How long what only tells of the past is kept; older rows go in small batches, so that no tick waits for them."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from dispatch.config import config
from dispatch.models import Dispatch, Job, Part, TickReport
from dispatch.results.parts import names_of, remove_files
from generation.models import Command, JournalEntry, Task


def _journal(kept: timedelta) -> QuerySet[Any]:
    return JournalEntry.objects.filter(at__lt=Now() - kept)


def _reports(kept: timedelta) -> QuerySet[Any]:
    return TickReport.objects.filter(created_at__lt=Now() - kept)


def _dispatches(kept: timedelta) -> QuerySet[Any]:
    """Ended ones, except while the hub has not confirmed their end: they are the handle to clear it with."""
    ended = Dispatch.objects.filter(ended_at__lt=Now() - kept).exclude(status=Dispatch.Status.ACTIVE)
    return ended.exclude(pk__in=Job.objects.filter(status=Job.Status.STOPPING).values("dispatch"))


def _commands(kept: timedelta) -> QuerySet[Any]:
    """With their tasks and targets, except while a task is alive: it is the authority of work in flight."""
    living = Task.objects.filter(status__in=Task.LIVE).values("command")
    return Command.objects.filter(created_at__lt=Now() - kept).exclude(pk__in=living)


def _parts(kept: timedelta) -> QuerySet[Any]:
    """Those that nobody joined in all that time, except what a dispatch counts on, and those whose asset is gone."""
    used = Dispatch.objects.filter(status=Dispatch.Status.ACTIVE, asset__isnull=False).values("asset")
    return Part.objects.filter(Q(created_at__lt=Now() - kept) & ~Q(asset__in=used) | Q(asset__isnull=True))


OLD: dict[str, Callable[[timedelta], QuerySet[Any]]] = {
    "journal": _journal,
    "reports": _reports,
    "dispatches": _dispatches,
    "commands": _commands,
    "parts": _parts,
}


def prune() -> dict[str, int]:
    """Delete one batch of each kind and return how many rows of it went. Call in a transaction."""
    kept = {
        "journal": config().keep_journal,
        "reports": config().keep_reports,
        "dispatches": config().keep_dispatches,
        "commands": config().keep_commands,
        "parts": config().keep_parts,
    }
    return {kind: _delete_batch(old(kept[kind])) for kind, old in OLD.items()}


def _delete_batch(old: QuerySet[Any]) -> int:
    batch = list(old.order_by("pk").values_list("pk", flat=True)[: config().prune_batch])
    rows = old.model._base_manager.filter(pk__in=batch)
    if old.model is Part:
        transaction.on_commit(partial(remove_files, names_of(rows)), robust=True)
    _, deleted = rows.delete()
    return int(deleted.get(old.model._meta.label, 0))
