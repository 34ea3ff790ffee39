"""Auto next: a finished window is followed by the next one, in the name of the operator who switched that on."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models.signals import pre_delete

from generation.exceptions import InvalidRequest
from generation.models import Book, Command

from .answers import Actor, Asked, answer_once, book_named
from .permissions import OPERATE

ENABLED = "auto_next_enabled"
DISABLED = "auto_next_disabled"


@dataclass(frozen=True)
class Request:
    book_pk: int
    enabled: bool


@dataclass(frozen=True)
class Plan:
    changes: bool

    def answer(self) -> dict[str, Any]:
        """Return {"changes": whether the switch moves}."""
        return {"changes": self.changes}


def plan(request: Request) -> Plan:
    """Return what the switch would do. Reads only. Raises NotFound."""
    return _plan(book_named(request.book_pk), request)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Switch it and return the answer of `Plan.answer()`; it starts nothing.

    Raises what `plan` raises, and InvalidRequest when it is switched on without an account to act for.
    """
    if request.enabled and actor.user is None:
        raise InvalidRequest("Windows follow each other in the name of an account; sign in to switch that on.")

    def act(book: Book, command: Command) -> dict[str, Any]:
        answer = _plan(book, request).answer()
        Book.objects.filter(pk=book.pk).update(
            auto_next_by=actor.user if request.enabled else None, auto_next_off_reason=""
        )
        return answer

    asked = Asked(Command.Kind.AUTO_NEXT, request.book_pk, {"enabled": request.enabled}, (OPERATE,))
    return answer_once(asked, actor, key, act)


def switch_off(book: Book, reason: str) -> None:
    """Switch it off for a reason that is shown, if it was on. Call under the Book lock."""
    on = Book.objects.filter(pk=book.pk, auto_next_by__isnull=False)
    on.update(auto_next_by=None, auto_next_off_reason=reason[:200])


def listen() -> None:
    pre_delete.connect(_switch_off_for, sender=settings.AUTH_USER_MODEL, dispatch_uid="generation.auto_next")


def _switch_off_for(*, instance: User, **_: Any) -> None:
    """Say why, before the account goes and leaves nothing to act for."""
    reason = f"the account {instance.get_username()} was deleted"
    Book.objects.filter(auto_next_by=instance).update(auto_next_by=None, auto_next_off_reason=reason[:200])


def state_of(book: Book) -> dict[str, str]:
    """Return what an answer says of it."""
    return {"auto_next": DISABLED if book.auto_next_by_id is None else ENABLED}


def _plan(book: Book, request: Request) -> Plan:
    return Plan(changes=(book.auto_next_by_id is not None) != request.enabled)
