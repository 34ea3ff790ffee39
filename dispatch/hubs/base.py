"""What a hub is: where jobs go. Adapters import no models; the tick and the results speak to them in these terms."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class HubError(Exception):
    """The hub did not take the call."""


class HubUnavailable(HubError):
    """Nothing was accepted; the same call may be repeated."""


class HubDeclined(HubError):
    """The hub took nothing of this job now, and says why: `reason` is its word, known to `dispatch.outcomes` or not."""

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(message or reason)
        self.reason = reason


class HubRejected(HubError):
    """The hub will never take this job."""


class SubmissionUnknown(HubError):
    """The job may have been accepted: keep its ids and never send it under others. `reason` says what is unknown."""

    def __init__(self, message: str = "", reason: str = "ambiguous_post") -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class JobRef:
    """The two ids that name a job everywhere."""

    dispatch_id: str
    job_id: str
    stage: str


@dataclass(frozen=True)
class Envelope:
    """One job as it is sent. `body` is what the worker renders, frozen when the dispatch was prepared."""

    ref: JobRef
    unit: str
    timeout_s: int
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Receipt:
    """The hub has the job; `duplicate` when it had it before this call."""

    duplicate: bool = False


class Life(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    ABSENT = "absent"  # the hub could be asked and does not know the job
    UNKNOWN = "unknown"  # the hub could not be asked; never a reason to fail work


@dataclass(frozen=True)
class LiveWorker:
    """A process that renders one stage. Draining, it finishes `job` and takes no other."""

    name: str
    stage: str
    job: str | None = None
    is_draining: bool = False


def words_of(worker: LiveWorker) -> str:
    """Return its name and what it does."""
    does = f"renders {worker.job}" if worker.job else "waits"
    return f"{worker.name} {does}{', then stops' if worker.is_draining else ''}"


def ready(workers: Iterable[LiveWorker]) -> Counter[str]:
    """Return the number of workers by stage that take jobs."""
    return Counter(worker.stage for worker in workers if not worker.is_draining)


@dataclass(frozen=True)
class Undelivered:
    """A result that a worker could not hand over. `payload` is what it would have said."""

    ref: JobRef
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class ClearReport:
    """`cleared` and `failed` hold dispatch ids, or the book's wire id."""

    requested: int = 0
    cleared: frozenset[str] = field(default_factory=frozenset)
    failed: frozenset[str] = field(default_factory=frozenset)


class Hub(Protocol):
    name: str
    # False when nothing can be asked about a job: then only the deadline ends it.
    has_evidence: bool

    def submit(self, envelope: Envelope) -> Receipt:
        """Hand one job over. A repeat under the same ids is harmless.

        Raises HubUnavailable, HubDeclined, HubRejected, SubmissionUnknown.
        """

    def clear(self, dispatch_ids: Collection[str], book: str | None = None) -> ClearReport:
        """Drop what the hub holds for these dispatches, or, without any, for one book. Never raises.

        Neither ids nor a book is no request at all: nothing clears everything.
        """

    def workers(self) -> Sequence[LiveWorker]:
        """Return the live workers. Raises HubUnavailable when they cannot be read."""

    def drain(self, names: Collection[str]) -> Collection[str]:
        """Tell these workers to finish what they do and stop; return the names that live. Safe to repeat.

        Raises HubUnavailable.
        """

    def evidence(self, refs: Sequence[JobRef]) -> Mapping[JobRef, Life]:
        """Say how each job lives. Never raises; what cannot be read is unknown."""

    def held(self) -> Collection[str]:
        """Return the dispatch ids of which it holds a job, queued or running. Raises HubUnavailable."""

    def undelivered(self) -> Sequence[Undelivered]:
        """Return results that wait to be fetched. Raises HubUnavailable."""

    def acknowledge(self, ref: JobRef) -> None:
        """Forget an undelivered result that was dealt with. Raises HubUnavailable."""
