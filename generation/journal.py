"""The one way into the journal."""

from collections.abc import Iterable
from dataclasses import dataclass

from . import lifecycle
from .lifecycle import State
from .models import Asset, Book, Command, JournalEntry

BATCH = 2000


@dataclass(frozen=True)
class Subject:
    """Which asset an entry tells of."""

    asset_pk: int
    scene_pk: int
    stage: str

    @classmethod
    def of(cls, asset: Asset) -> "Subject":
        return cls(asset.pk, asset.scene_id, asset.stage)


def change_text(source: State | str, target: State | str) -> str:
    return " → ".join(lifecycle.route(State(source), State(target)))


def record(
    event: str,
    book: Book | None,
    subject: Subject | None = None,
    *,
    change: str = "",
    reason: str = "",
    message: str = "",
    dispatch_id: str = "",
    actor: str = "",
) -> None:
    entry = _entry(event, book, subject, change=change, reason=reason)
    entry.message = message[:500]
    entry.dispatch_id = dispatch_id
    entry.actor = actor
    entry.save(force_insert=True)


def record_command(command: Command, book: Book, changes: Iterable[tuple[Subject, str]]) -> None:
    """Write one row per asset and command; `changes` names the states each asset passed."""
    entries = []
    for subject, change in changes:
        entry = _entry(command.kind, book, subject, change=change, reason="")
        entry.command_pk = command.pk
        entry.actor = command.actor_name
        entries.append(entry)
    JournalEntry.objects.bulk_create(entries, batch_size=BATCH)


def _entry(event: str, book: Book | None, subject: Subject | None, *, change: str, reason: str) -> JournalEntry:
    return JournalEntry(
        event=event,
        book_key=book.key if book else "",
        book_pk=book.pk if book else None,
        scene_pk=subject.scene_pk if subject else None,
        asset_pk=subject.asset_pk if subject else None,
        stage=subject.stage if subject else "",
        change=change,
        reason=reason[:60],
    )
