"""Failure types: what a failure says about a second try."""

from dataclasses import dataclass

from django.db import models


class FailureType(models.TextChoices):
    TRANSIENT = "transient", "Transient"  # the same work may succeed; also every failure we know nothing about
    INFRASTRUCTURE = "infrastructure", "Infrastructure"  # a worker, hub or store went away
    ORCHESTRATION = "orchestration", "Orchestration"  # our own hand-over went wrong
    PERMANENT = "permanent", "Permanent"  # the same work can only fail again


class RenderError(Exception):
    """A render failed; `reason` is a stable code, the message is for the operator."""

    failure_type = FailureType.TRANSIENT
    reason = "render_failed"


class NothingToRender(RenderError):
    """The scene has nothing that this stage could render."""

    failure_type = FailureType.PERMANENT
    reason = "nothing_to_render"


def storable(text: str) -> str:
    """Return the text without what PostgreSQL cannot keep: NUL, and surrogates that stand alone."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


@dataclass(frozen=True)
class Failure:
    """An error that a worker, the hub or we report about a dispatch. Its texts may hold anything."""

    type: FailureType
    reason: str
    message: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", storable(self.reason))
        object.__setattr__(self, "message", storable(self.message))


def failure_of(error: BaseException) -> Failure:
    """Classify an exception that ended a render. Unknown is transient: its retries are bounded."""
    message = f"{type(error).__name__}: {error}"[:500]
    if isinstance(error, RenderError):
        return Failure(error.failure_type, error.reason, str(error)[:500])
    if isinstance(error, MemoryError):
        return Failure(FailureType.INFRASTRUCTURE, "out_of_memory", message)
    if isinstance(error, OSError):
        return Failure(FailureType.INFRASTRUCTURE, "storage_failed", message)
    return Failure(FailureType.TRANSIENT, "render_failed", message)
