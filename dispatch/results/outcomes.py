"""How a dispatch may end. Matched exhaustively in finalise."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from dispatch.failures import Failure
from generation.store import StoredFile


@dataclass(frozen=True)
class Published:
    """The result is in the storage and validated; `files` by role."""

    files: Mapping[str, StoredFile]


@dataclass(frozen=True)
class Failed:
    """`job_id` is the job whose error this is; the hub is done with it. None when we judged the dispatch ourselves."""

    failure: Failure
    job_id: str | None = None


@dataclass(frozen=True)
class Refused:
    """No job of it is at the hub: nothing was spent. What follows is the bucket of `dispatch.outcomes`.

    `has_proof` says that the files of what the asset has published are in the storage.
    """

    reason: str
    has_proof: bool = False


@dataclass(frozen=True)
class Cancelled:
    """It may not exist any more."""

    reason: str


Outcome = Published | Failed | Refused | Cancelled


class Rejection(StrEnum):
    """Why a result changes nothing. The sender is told not to retry."""

    MISSING_DISPATCH_ID = "missing_dispatch_id"
    NO_ACTIVE_DISPATCH = "no_active_dispatch"  # nothing of ours, or its asset is gone
    STALE_DISPATCH = "stale_dispatch"  # it ended otherwise, or a newer command fenced it
    ALREADY_FINALIZED = "already_finalized"  # the same result again: plainly fine
    DISPATCH_MISMATCH = "dispatch_mismatch"  # a job or import of somebody else
    BAD_OUTPUT = "bad_output"


@dataclass(frozen=True)
class Answer:
    """What the sender of a result is told; `rejection` None means it counted."""

    rejection: Rejection | None = None

    @property
    def accepted(self) -> bool:
        return self.rejection in (None, Rejection.ALREADY_FINALIZED)
