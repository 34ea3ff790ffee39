"""A hub in memory. It keeps to the same contract as the real ones (tests/contract)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from dispatch.hubs.base import (
    ClearReport,
    Envelope,
    HubError,
    HubUnavailable,
    JobRef,
    Life,
    LiveWorker,
    Receipt,
    Undelivered,
)
from generation.stages import StageName


def staff(**counts: int) -> list[LiveWorker]:
    """Return so many idle workers by stage, named image-1 and so on."""
    return [LiveWorker(f"{stage}-{number}", stage) for stage, most in counts.items() for number in range(1, most + 1)]


class FakeHub:
    name = "fake"
    has_evidence = True

    def __init__(self) -> None:
        self.jobs: dict[JobRef, Envelope] = {}
        self.running: set[JobRef] = set()
        self.finished: dict[JobRef, Mapping[str, object]] = {}
        self.submissions: list[JobRef] = []
        self.draining: set[str] = set()
        self.worker_counts = dict.fromkeys(StageName.values, 1)
        self.answers: list[HubError] = []
        self.down = False
        self.on_submit = None

    def submit(self, envelope: Envelope) -> Receipt:
        if self.down:
            raise HubUnavailable("the hub is away")
        if self.answers:
            raise self.answers.pop(0)
        duplicate = envelope.ref in self.jobs
        self.jobs[envelope.ref] = envelope
        self.submissions.append(envelope.ref)
        if self.on_submit is not None:
            self.on_submit(envelope)
        return Receipt(duplicate=duplicate)

    def clear(self, dispatch_ids: Collection[str], book: str | None = None) -> ClearReport:
        wanted = {dispatch_id for dispatch_id in dispatch_ids if dispatch_id}
        scopes = wanted or ({book} if book else set())
        if self.down:
            return ClearReport(len(scopes), frozenset(), frozenset(scopes))
        for ref in list(self.jobs):
            if ref.dispatch_id in wanted or (not wanted and book and ref.job_id.startswith(f"{book}_")):
                self.forget(ref)
        return ClearReport(len(scopes), frozenset(scopes), frozenset())

    def workers(self) -> Sequence[LiveWorker]:
        if self.down:
            raise HubUnavailable("the hub is away")
        living = staff(**self.worker_counts)
        return [replace(worker, is_draining=worker.name in self.draining) for worker in living]

    def drain(self, names: Collection[str]) -> Collection[str]:
        alive = {worker.name for worker in self.workers()} & set(names)
        self.draining |= alive
        return alive

    def evidence(self, refs: Sequence[JobRef]) -> Mapping[JobRef, Life]:
        if self.down:
            return dict.fromkeys(refs, Life.UNKNOWN)
        return {ref: self._life(ref) for ref in refs}

    def held(self) -> Collection[str]:
        if self.down:
            raise HubUnavailable("the hub is away")
        return {ref.dispatch_id for ref in self.jobs}

    def undelivered(self) -> Sequence[Undelivered]:
        if self.down:
            raise HubUnavailable("the hub is away")
        return [Undelivered(ref, payload) for ref, payload in self.finished.items()]

    def acknowledge(self, ref: JobRef) -> None:
        self.finished.pop(ref, None)

    def forget(self, ref: JobRef) -> None:
        self.jobs.pop(ref, None)
        self.running.discard(ref)

    def _life(self, ref: JobRef) -> Life:
        if ref in self.running:
            return Life.RUNNING
        return Life.QUEUED if ref in self.jobs else Life.ABSENT
