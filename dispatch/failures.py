"""Why a render failed, and what that says about a second try: one closed table.

Every reason of a hub, every exception of a renderer and every class of message leads to a row here on purpose; what
nobody knows is transient, because its retries are bounded.
"""

import re
from dataclasses import dataclass

from django.db import models
from rq.timeouts import JobTimeoutException


class FailureType(models.TextChoices):
    TRANSIENT = "transient", "Transient"  # the same work may succeed; also every failure we know nothing about
    INFRASTRUCTURE = "infrastructure", "Infrastructure"  # a worker, hub or store went away
    ORCHESTRATION = "orchestration", "Orchestration"  # our own hand-over went wrong
    PERMANENT = "permanent", "Permanent"  # the same work can only fail again


@dataclass(frozen=True)
class Cause:
    reason: str
    type: FailureType
    words: str


CAUSES: dict[str, Cause] = {
    cause.reason: cause
    for cause in (
        Cause("render_failed", FailureType.TRANSIENT, "The renderer failed."),
        Cause("bad_output", FailureType.TRANSIENT, "What came back is not what the stage makes."),
        Cause("timed_out", FailureType.TRANSIENT, "Something the renderer called took too long."),
        Cause("worker_killed", FailureType.INFRASTRUCTURE, "The process that rendered it was killed."),
        Cause("worker_timeout", FailureType.INFRASTRUCTURE, "It took longer than its job timeout."),
        Cause("stalled", FailureType.INFRASTRUCTURE, "It made no progress."),
        Cause("orphaned", FailureType.INFRASTRUCTURE, "The worker that rendered it is gone."),
        Cause("orphaned_task", FailureType.INFRASTRUCTURE, "The hub lost the worker that rendered it."),
        Cause("part_lost", FailureType.INFRASTRUCTURE, "A finished part was lost; it alone is made again."),
        Cause("out_of_memory", FailureType.INFRASTRUCTURE, "The worker ran out of memory."),
        Cause("storage_failed", FailureType.INFRASTRUCTURE, "A file could not be read or written."),
        Cause("connection_lost", FailureType.INFRASTRUCTURE, "A connection of the worker broke."),
        Cause("bad_envelope", FailureType.ORCHESTRATION, "The worker could not read its order."),
        Cause("nothing_to_render", FailureType.PERMANENT, "The scene has nothing that this stage could render."),
        Cause("no_voice", FailureType.PERMANENT, "Nothing here speaks the language of the scene."),
        Cause("artifact_gone", FailureType.PERMANENT, "A file that it is made from does not exist any more."),
        Cause("hub_rejected", FailureType.PERMANENT, "The hub will never take this job."),
    )
}

# First match wins: the narrower class before the wider.
EXCEPTIONS: tuple[tuple[type[BaseException], str], ...] = (
    (JobTimeoutException, "worker_timeout"),
    (MemoryError, "out_of_memory"),
    (TimeoutError, "timed_out"),
    (ConnectionError, "connection_lost"),
    (OSError, "storage_failed"),
    (KeyError, "bad_envelope"),
)

# Messages of parties that send text and no reason.
MESSAGES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), reason)
    for pattern, reason in (
        (r"out of memory|\boom\b", "out_of_memory"),
        (r"no space left|disk (is )?full|read-only file system", "storage_failed"),
        (r"connection (refused|reset|aborted|closed)|broken pipe|unreachable|name resolution", "connection_lost"),
        (r"worker.{0,40}(timed? ?out|timeout)", "worker_timeout"),
        (r"timed? ?out|deadline exceeded", "timed_out"),
        (r"(download|fetch)\w*\b.{0,200}\b(404|410)\b|\b(404|410)\b.{0,40}(download|fetch|not found)", "artifact_gone"),
        (r"nothing to (render|speak|draw)", "nothing_to_render"),
    )
)


class RenderError(Exception):
    """A render failed; `reason` is a row of CAUSES, the message is for the operator."""

    reason = "render_failed"


class NothingToRender(RenderError):
    """The scene has nothing that this stage could render."""

    reason = "nothing_to_render"


class InputGone(RenderError):
    """A file that it is made from does not exist any more."""

    reason = "artifact_gone"


class BadOutput(RenderError):
    """What was made is not what the stage makes; a second try may do better."""

    reason = "bad_output"


def storable(text: str) -> str:
    """Return the text without what PostgreSQL cannot keep: NUL, and surrogates that stand alone."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


@dataclass(frozen=True)
class Failure:
    """An error that a worker, the hub or we report about a dispatch. Its texts may hold anything."""

    reason: str
    message: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", storable(self.reason)[:40])
        object.__setattr__(self, "message", storable(self.message)[:500])

    @property
    def type(self) -> FailureType:
        cause = CAUSES.get(self.reason)
        return cause.type if cause else FailureType.TRANSIENT


def failure_of(error: BaseException) -> Failure:
    """Classify an exception that ended a render. Time that ran out inside a decoder is no fault of what it decoded."""
    if isinstance(error.__cause__, JobTimeoutException):
        error = error.__cause__
    message = f"{type(error).__name__}: {error}"
    if isinstance(error, RenderError):
        return Failure(error.reason, str(error))
    for known, reason in EXCEPTIONS:
        if isinstance(error, known):
            return Failure(reason, message)
    return failure_from("", message)


def failure_from(reason: str, message: str = "") -> Failure:
    """Classify what another party says: by its reason if that is a row of CAUSES, else by the class of its text."""
    if reason in CAUSES:
        return Failure(reason, message)
    text = f"{reason} {message}".strip()
    for pattern, known in MESSAGES:
        if pattern.search(text[:2000]):
            return Failure(known, text)
    return Failure("render_failed", text)
