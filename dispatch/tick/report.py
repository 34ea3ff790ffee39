"""What a tick did, counted in assets."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dispatch.failures import storable


@dataclass
class Report:
    """The keys are the contract of `manage.py tick --json`."""

    total_active: int = 0  # open targets
    processed: int = 0  # selected
    dispatched: int = 0
    throttled: int = 0  # refused by the quota
    skipped: int = 0  # already running or waiting
    completed: int = 0  # closed without a job
    deferred: int = 0
    blocked: int = 0
    errors: list[dict[str, Any]] = field(default_factory=list)
    duration_ms: int = 0

    def error(self, reason: str, asset_pk: int | None = None, message: str = "") -> None:
        """Note what went wrong; the texts may be another party's and hold anything."""
        self.errors.append({"reason": storable(reason), "asset": asset_pk, "message": storable(message)[:500]})

    def after(self, earlier: "Report | None") -> "Report":
        """Return what both runs did; what is open, deferred or blocked is told by this one, the later."""
        if earlier is None:
            return self
        summed = ("processed", "dispatched", "throttled", "skipped", "completed", "duration_ms")
        return replace(
            self,
            errors=[*earlier.errors, *self.errors],
            **{name: getattr(self, name) + getattr(earlier, name) for name in summed},
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
