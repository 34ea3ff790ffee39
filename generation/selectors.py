"""Reads that span models."""

from collections.abc import Iterable

from django.db.models import Count

from .lifecycle import State
from .models import Asset, LayerConfig, StageConfig, SystemConfig
from .models.layers import Pausable
from .stages import STAGES, StageName

Progress = dict[StageName, dict[State, int]]


def progress(book_pks: Iterable[int]) -> dict[int, Progress]:
    """Return {book: {stage: {state: assets}}}, zeros included, in one statement."""
    result: dict[int, Progress] = {pk: {stage: dict.fromkeys(State, 0) for stage in StageName} for pk in book_pks}
    counted = Asset.objects.filter(book__in=list(result)).order_by().values_list("book", "stage", "state")
    for book, stage, state, number in counted.annotate(number=Count("pk")):
        result[book][StageName(stage)][State(state)] = number
    return result


def unmade(book_pks: Iterable[int]) -> dict[tuple[int, str], int]:
    """Return {(book, stage): assets} of those that are dirty and have no file: not out of date, but not made."""
    dirty = Asset.objects.filter(book__in=list(book_pks), state=State.DIRTY, published__isnull=True)
    counted = dirty.order_by().values_list("book", "stage").annotate(number=Count("pk"))
    return {(book, stage): number for book, stage, number in counted}


def quotas() -> dict[StageName, int]:
    """Return the quota in force per stage: the editable row, else the registry's number."""
    configured = dict(StageConfig.objects.values_list("stage", "quota"))
    return {name: configured.get(name, stage.quota) for name, stage in STAGES.items()}


def circuit_resets() -> dict[StageName, int]:
    """Return how often operators reset the circuit of each stage."""
    counted = dict(StageConfig.objects.values_list("stage", "circuit_resets"))
    return {name: counted.get(name, 0) for name in STAGES}


def job_timeouts_s(book_pks: Iterable[int]) -> dict[tuple[int, str], int]:
    """Return {(book, stage): seconds} where a layer sets its own job timeout."""
    rows = LayerConfig.objects.filter(book__in=list(book_pks), job_timeout_min__isnull=False)
    found = rows.values_list("book", "stage", "job_timeout_min")
    return {(book, stage): minutes * 60 for book, stage, minutes in found if minutes is not None}


def pauses(book_pks: Iterable[int]) -> dict[int, list[str]]:
    """Return {book: what holds it back and why, in words}, in three statements for any number of books."""
    books = list(book_pks)
    everywhere = [_paused("Everything", row) for row in SystemConfig.objects.filter(paused_at__isnull=False)]
    everywhere += [_paused(row.stage, row) for row in StageConfig.objects.filter(paused_at__isnull=False)]
    result = {pk: list(everywhere) for pk in books}
    layers = LayerConfig.objects.filter(book__in=books, paused_at__isnull=False).order_by("stage")
    by_reason: dict[tuple[int, str, str], list[LayerConfig]] = {}
    for layer in layers:
        by_reason.setdefault((layer.book_id, layer.paused_by, layer.paused_why), []).append(layer)
    for (book_pk, _, _), rows in by_reason.items():
        result[book_pk].append(_paused(", ".join(layer.stage for layer in rows), rows[0]))
    return result


def _paused(what: str, row: Pausable) -> str:
    why = f": {row.paused_why}" if row.paused_why else ""
    return f"{what.capitalize()} paused by {row.paused_by}{why}."
