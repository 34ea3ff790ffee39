"""What a kind of finding is: how it is seen, how it is put right, and what an operator reads."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from dispatch.hubs.base import Hub
from dispatch.tick.lease import Lease

# Of a pass inside a tick; the rest of the files waits for the next one.
FILES_PER_PASS = 2_000
BATCH = 500


class CannotRead(Exception):
    """A store or the hub could not be read: nothing is said on a guess."""


@dataclass(frozen=True)
class Found:
    subject: str
    detail: str
    book_pk: int | None = None
    asset_pk: int | None = None
    file: str = ""  # what is missing


@dataclass
class Scope:
    """`book_pk` None means every book; `is_whole` looks at every file, else at the next slice of them."""

    lease: Lease
    hub: Hub
    book_pk: int | None = None
    is_whole: bool = True
    dry_run: bool = False


class Check(Protocol):
    kind: str
    words: str
    fix_words: str

    def find(self, scope: Scope) -> Iterable[Found]:
        """Yield what is wrong. Reads only. Raises CannotRead."""

    def fix(self, scope: Scope, found: Sequence[Found]) -> int:
        """Put right what still is wrong, and return how many were. Raises CannotRead."""

    def still(self, scope: Scope, subjects: Sequence[str]) -> set[str]:
        """Return which of these open findings are still so. Raises CannotRead."""
