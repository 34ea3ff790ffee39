"""What every command shares: who asks, the idempotent record, and the order of its steps."""

import hashlib
import json
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F

from generation.exceptions import IdempotencyConflict, InvalidRequest, NotFound
from generation.models import Book, Command
from generation.signals import ring_after_commit

KEY_MAX = 200


@dataclass(frozen=True)
class Actor:
    """Who commands. The name is kept as text: it outlives the account."""

    name: str
    user: User | None = None

    @classmethod
    def of(cls, user: User) -> "Actor":
        return cls(user.get_username(), user)


@dataclass(frozen=True)
class Asked:
    """One command as it was asked: kind, book and parameters make the digest that a repeated key must match."""

    kind: Command.Kind
    book_pk: int
    params: dict[str, Any]

    @property
    def digest(self) -> str:
        body = json.dumps([self.kind, self.book_pk, self.params], sort_keys=True)
        return hashlib.sha256(body.encode()).hexdigest()


def answer_once(
    asked: Asked, actor: Actor, key: str | None, act: Callable[[Book, Command], dict[str, Any]]
) -> dict[str, Any]:
    """Do `act` under the Book lock, record the command with its answer, ring the tick; return the answer.

    The same (actor, key) with the same body returns the first answer and changes nothing; with another body it
    raises IdempotencyConflict. Raises NotFound when the book is gone.
    """
    if key is not None:
        _require_key(key)
    try:
        with transaction.atomic():
            locked = Book.objects.lock([asked.book_pk])
            if not locked:
                raise NotFound(f"There is no book {asked.book_pk}.")
            book = locked[0]
            earlier = _earlier(asked, actor, key)
            if earlier is not None:
                return earlier
            return _acted(asked, actor, key, book, act)
    except IntegrityError:
        # Another book's command took the key while we held only our own book.
        earlier = _earlier(asked, actor, key)
        if earlier is None:
            raise
        return earlier


def _require_key(key: str) -> None:
    if not 0 < len(key) <= KEY_MAX:
        raise InvalidRequest(f"The idempotency key must have 1 to {KEY_MAX} characters.")
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in key):
        raise InvalidRequest("The idempotency key contains a character that cannot be printed.")


def _acted(
    asked: Asked, actor: Actor, key: str | None, book: Book, act: Callable[[Book, Command], dict[str, Any]]
) -> dict[str, Any]:
    command = Command.objects.create(
        kind=asked.kind,
        book=book,
        book_key=book.key,
        params=asked.params,
        actor=actor.user,
        actor_name=actor.name,
        key=key or "",
        digest=asked.digest,
        answer={},
    )
    answer = act(book, command)
    command.answer = answer
    command.save(update_fields=["answer"])
    Book.objects.filter(pk=book.pk).update(revision=F("revision") + 1)
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
