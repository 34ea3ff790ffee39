"""The one way into the journal."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Case, F, Value, When

from . import lifecycle
from .bulk import insert_from
from .lifecycle import State
from .models import Asset, Book, Command, JournalEntry
from .querysets import AssetQuerySet


@dataclass(frozen=True)
class Subject:
    """Which asset an entry tells of."""

    asset_pk: int
    scene_pk: int
    stage: str

    @classmethod
    def of(cls, asset: Asset) -> "Subject":
        return cls(asset.pk, asset.scene_id, asset.stage)


def change_text(source: State | str, target: State | str, *, proven: bool = False) -> str:
    return " → ".join(lifecycle.route(State(source), State(target), proven=proven))


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


def record_command(
    command: Command,
    book: Book,
    assets: AssetQuerySet,
    target: State | None = None,
    sources: Iterable[State] | None = None,
    *,
    proven: bool = False,
) -> None:
    """Write one row per asset and command, before the assets are moved.

    `change` names the states each asset is about to pass on its way to `target`; assets in other states than `sources`
    (by default all that lead there) and commands without a target change none.
    """
    change: Case | Value = Value("")
    if target is not None:
        leading = list(sources) if sources is not None else lifecycle.sources_of(target)
        passed = [When(state=state, then=Value(change_text(state, target, proven=proven))) for state in leading]
        change = Case(*passed, default=Value(""))
    insert_from(
        JournalEntry,
        assets,
        event=command.kind,
        book_key=book.key,
        book_pk=book.pk,
        scene_pk=F("scene_id"),
        asset_pk=F("pk"),
        stage=F("stage"),
        change=change,
        command_pk=command.pk,
        actor=command.actor_name,
    )


def record_move(event: str, assets: AssetQuerySet, target: State, reason: str = "") -> None:
    """Write one row per asset that is about to go to `target`, in one statement."""
    passed = [When(state=state, then=Value(change_text(state, target))) for state in lifecycle.sources_of(target)]
    insert_from(
        JournalEntry,
        assets.order_by(),
        event=event,
        book_key=F("book__key"),
        book_pk=F("book_id"),
        scene_pk=F("scene_id"),
        asset_pk=F("pk"),
        stage=F("stage"),
        change=Case(*passed, default=Value("")),
        reason=reason[:60],
    )


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
