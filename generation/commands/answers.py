"""What every command shares: who asks, the idempotent record, and the order of its steps."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F

from generation.exceptions import IdempotencyConflict, InvalidRequest, NotFound, PermissionRefused
from generation.models import Book, Command
from generation.signals import ring_after_commit

KEY_MAX = 200
PARAM_MAX = 1_000_000
# Numbers that cannot be the key of a row; PostgreSQL would refuse the statement.
PK_LIMIT = 2**63


@dataclass(frozen=True)
class Actor:
    """Who commands. The name is kept as text: it outlives the account. Without an account it is `manage.py`."""

    name: str
    user: User | None = None

    @classmethod
    def of(cls, user: User) -> "Actor":
        return cls(user.get_username(), user)

    def require(self, permissions: tuple[str, ...]) -> None:
        """Raise PermissionRefused unless the account is active and has all of them."""
        if self.user is None:
            return
        if not self.user.is_active:
            raise PermissionRefused(f"The account {self.name} is not active.")
        missing = [permission for permission in permissions if not self.user.has_perm(permission)]
        if missing:
            raise PermissionRefused(f"You may not do this: the permission {missing[0]} is needed.")


@dataclass(frozen=True)
class Asked:
    """One command as it was asked: kind, book and parameters make the digest that a repeated key must match.

    `book_pk` None means all books, or the one that `find_book` knows: a command on a row that may be gone when it is
    repeated. `permissions` are what the actor must have.
    """

    kind: Command.Kind
    book_pk: int | None
    params: dict[str, Any]
    permissions: tuple[str, ...]
    find_book: Callable[[], int] | None = None

    @property
    def digest(self) -> str:
        body = json.dumps([self.kind, self.book_pk, self.params], sort_keys=True)
        return hashlib.sha256(body.encode()).hexdigest()


def book_named(pk: int) -> Book:
    """Return the book, for a plan; raises NotFound."""
    book = Book.objects.filter(pk=pk).first() if 0 < pk < PK_LIMIT else None
    if book is None:
        raise NotFound(f"There is no book {pk}.")
    return book


def answer_once(
    asked: Asked, actor: Actor, key: str | None, act: Callable[[Book, Command], dict[str, Any]]
) -> dict[str, Any]:
    """Do `act` under the Book lock, record the command with its answer, ring the tick; return the answer.

    The same (actor, key) with the same body returns the first answer and changes nothing; with another body it
    raises IdempotencyConflict. Raises PermissionRefused, InvalidRequest for a key that cannot be one, and NotFound
    when the book is gone.
    """

    def acted(books: list[Book], command: Command) -> dict[str, Any]:
        return act(books[0], command)

    return _answer_once(asked, actor, key, acted)


def answer_once_for_all(
    asked: Asked, actor: Actor, key: str | None, act: Callable[[Command], dict[str, Any]]
) -> dict[str, Any]:
    """Do `act` under the lock of every Book row; otherwise like `answer_once`."""
    return _answer_once(asked, actor, key, lambda _, command: act(command))


def answer_once_for_new(
    asked: Asked, actor: Actor, key: str | None, act: Callable[[Command], dict[str, Any]]
) -> dict[str, Any]:
    """Do `act`, which makes the book and names it in the command, without a lock; otherwise like `answer_once`."""
    return _answer_once(asked, actor, key, lambda _, command: act(command), locks=False)


def _answer_once(
    asked: Asked,
    actor: Actor,
    key: str | None,
    act: Callable[[list[Book], Command], dict[str, Any]],
    *,
    locks: bool = True,
) -> dict[str, Any]:
    actor.require(asked.permissions)
    # Every text that a request brings is kept in the Command row.
    for name, value in asked.params.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                require_storable(name, text, PARAM_MAX)
    if key is not None:
        _require_key(key)
    try:
        with transaction.atomic():
            books = _lock(asked) if locks else []
            earlier = _earlier(asked, actor, key)
            return earlier if earlier is not None else _acted(asked, actor, key, books, act)
    except (IntegrityError, NotFound):
        # Another book's command took the key while we held only our own book, or this command deleted its own subject.
        earlier = _earlier(asked, actor, key)
        if earlier is None:
            raise
        return earlier


def _lock(asked: Asked) -> list[Book]:
    pk = asked.book_pk if asked.find_book is None else asked.find_book()
    if pk is None:
        return Book.objects.lock(Book.objects.values_list("pk", flat=True))
    books = Book.objects.lock([pk]) if 0 < pk < PK_LIMIT else []
    if not books:
        raise NotFound(f"There is no book {pk}.")
    return books


def require_storable(noun: str, text: str, most: int) -> None:
    """Raise InvalidRequest when the text is longer than `most` characters or PostgreSQL could not keep it."""
    if len(text) > most:
        raise InvalidRequest(f"The {noun} has {len(text)} characters; {most} is the most.")
    wrong = next((character for character in text if character == "\x00" or "\ud800" <= character <= "\udfff"), None)
    if wrong is not None:
        raise InvalidRequest(f"The {noun} contains {wrong!r}, which cannot be stored.")


def _require_key(key: str) -> None:
    require_storable("idempotency key", key, KEY_MAX)
    if not key:
        raise InvalidRequest("The idempotency key is empty.")


def _acted(
    asked: Asked,
    actor: Actor,
    key: str | None,
    books: list[Book],
    act: Callable[[list[Book], Command], dict[str, Any]],
) -> dict[str, Any]:
    book = None if asked.book_pk is None and asked.find_book is None else books[0]
    command = Command.objects.create(
        kind=asked.kind,
        book=book,
        book_key=book.key if book else "",
        params=asked.params,
        actor=actor.user,
        actor_name=actor.name,
        key=key or "",
        digest=asked.digest,
        answer={},
    )
    answer = act(books, command)
    Command.objects.filter(pk=command.pk).update(answer=answer)
    Book.objects.filter(pk__in=[locked.pk for locked in books]).update(revision=F("revision") + 1)
    ring_after_commit()
    return answer


def _earlier(asked: Asked, actor: Actor, key: str | None) -> dict[str, Any] | None:
    if key is None:
        return None
    command = Command.objects.filter(actor_name=actor.name, key=key).first()
    if command is None:
        return None
    if command.digest != asked.digest:
        raise IdempotencyConflict(f"The key {key!r} was used before for another command.")
    return dict(command.answer)
