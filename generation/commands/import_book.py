"""Import: a file becomes a book, or what changed in it becomes changed scenes. It starts nothing."""

import hashlib
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError

from generation import covers, journal, store
from generation.bulk import among
from generation.exceptions import ImportRefused, KeyTaken, NotFound
from generation.importing.parsed import ParsedBook
from generation.importing.record import Outline, outline, write
from generation.models import Asset, Book, Command, Scene
from generation.models.books import validate_key

from .answers import Actor, Asked, answer_once, answer_once_for_new
from .delete import delete_scenes
from .permissions import DELETE_SCENES, EDIT, IMPORT


@dataclass(frozen=True)
class Request:
    """The book in `parsed` under `key`. `update` says that a book of that key becomes what the file says."""

    parsed: ParsedBook
    key: str
    update: bool = False

    def params(self) -> dict[str, Any]:
        content = hashlib.sha256(repr(self.parsed).encode("utf-8", "replace")).hexdigest()
        return {"key": self.key, "content": content, "update": self.update}


@dataclass(frozen=True)
class Plan:
    request: Request
    outline: Outline
    book: Book | None

    def answer(self) -> dict[str, Any]:
        """Return {"key", "title", "encoding", "language", "chapters": n, "scenes": n, "kept": n, "changed": n, …}.

        scenes = kept + changed + new; "deleted" are those that the file has no more. `apply` adds "book", the row.
        """
        parsed = self.request.parsed
        title = parsed.title if parsed.is_titled or self.book is None else self.book.title
        return {
            "key": self.request.key,
            "title": title,
            "encoding": parsed.encoding,
            "language": parsed.language,
            **self.outline.counts(),
        }


def plan(request: Request) -> Plan:
    """Return what `apply` would do now. Reads only.

    Raises ImportRefused for a key that is not printable text of 1 to 200 characters, KeyTaken without `update`,
    NotFound when there is no book to update.
    """
    _require_key(request.key)
    return _plan(request, _existing(request) if request.update else Book.objects.filter(key=request.key).first())


def preview(request: Request) -> Plan:
    """Return what `plan` returns, and for a key that cannot be used yet what the file would become as a new book."""
    try:
        return plan(request)
    except (ImportRefused, NotFound):
        return _plan(request, None)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Do it and return the answer of `Plan.answer()`. Raises what `plan` raises; `key` makes it idempotent."""
    _require_key(request.key)
    cover = covers.save(request.parsed.cover)
    try:
        return (_update if request.update else _create)(request, cover, actor, key)
    except IntegrityError:
        if Book.objects.filter(key=request.key).exists():
            raise KeyTaken(f"There is already a book with the key {request.key!r}.") from None
        raise
    finally:
        if cover and not Book.objects.filter(cover=cover).exists():
            store.storage().delete(cover)


def _create(request: Request, cover: str, actor: Actor, key: str | None) -> dict[str, Any]:
    def act(command: Command) -> dict[str, Any]:
        planned = _plan(request, Book.objects.filter(key=request.key).first())
        answer = planned.answer()
        book = Book.objects.create(key=request.key, title=request.parsed.title)
        command.book, command.book_key = book, book.key
        command.save(update_fields=["book", "book_key"])
        write(book, planned.outline, cover)
        journal.record("imported", book, actor=actor.name)
        return {**answer, "book": book.pk}

    return answer_once_for_new(Asked(Command.Kind.IMPORT, None, request.params(), (IMPORT,)), actor, key, act)


def _update(request: Request, cover: str, actor: Actor, key: str | None) -> dict[str, Any]:
    def act(book: Book, command: Command) -> dict[str, Any]:
        planned = _plan(request, book)
        gone = Scene.objects.filter(among("pk", planned.outline.gone))
        changed = [place.row.pk for place in planned.outline.changed if place.row]
        touched = Asset.objects.filter(among("scene", [*planned.outline.gone, *changed]))
        journal.record_command(command, book, touched.order_by())
        delete_scenes(gone)
        answer = planned.answer()
        replaced = book.cover if cover else ""
        write(book, planned.outline, cover)
        journal.record("imported", book, actor=actor.name)
        if replaced:
            covers.remove_after_commit(replaced)
        return {**answer, "book": book.pk}

    permissions = (IMPORT, EDIT, DELETE_SCENES)
    asked = Asked(Command.Kind.IMPORT, None, request.params(), permissions, lambda: _existing(request).pk)
    return answer_once(asked, actor, key, act)


def _existing(request: Request) -> Book:
    book = Book.objects.filter(key=request.key).first()
    if book is None:
        raise NotFound(f"There is no book with the key {request.key!r} to update.")
    return book


def _plan(request: Request, book: Book | None) -> Plan:
    if book is not None and not request.update:
        raise KeyTaken(f"There is already a book with the key {request.key!r}.")
    return Plan(request, outline(request.parsed, book), book)


def _require_key(key: str) -> None:
    try:
        validate_key(key)
    except ValidationError as error:
        raise ImportRefused(" ".join(error.messages)) from error
