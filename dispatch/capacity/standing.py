"""What the circuit and the rate budgets of a stage stand at."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from dispatch.config import config


class Circuit(StrEnum):
    CLOSED = "closed"  # everything may start
    OPEN = "open"  # nothing may
    HALF_OPEN = "half_open"  # a few tests may; the first result closes or opens it again


@dataclass(frozen=True)
class Standing:
    circuit: Circuit = Circuit.CLOSED
    leases: int = 0
    failures: int = 0  # counted towards opening it
    tests: int = 0  # running now
    open_for_s: float = 0
    next_test_s: float = 0
    # Retries admitted lately: by failure type, by the worker that failed them, of all stages.
    retries: Mapping[str, int] = field(default_factory=dict)
    workers: Mapping[str, int] = field(default_factory=dict)
    all_retries: int = 0

    @property
    def spent_types(self) -> set[str]:
        """Failure types no retry of which is admitted now."""
        limits = config().retry_limits
        is_over = self.all_retries >= config().retries_of_all
        return {kind for kind, most in limits.items() if is_over or self.retries.get(kind, 0) >= most}

    @property
    def spent_workers(self) -> set[str]:
        """Workers none of whose failures is retried now."""
        return {worker for worker, number in self.workers.items() if number >= config().retries_of_worker}


def standing_from(text: str) -> Standing:
    """Read what the scripts tell. An empty table of Lua is an object or a list; both are empty here."""
    told: dict[str, Any] = json.loads(text)
    return Standing(
        circuit=Circuit(told["state"]),
        leases=told["leases"],
        failures=told["failures"],
        tests=told["tests"],
        open_for_s=told.get("open_for_s", 0),
        next_test_s=told.get("next_test_s", 0),
        retries=dict(told["retries"]),
        workers=dict(told["workers"]),
        all_retries=told["all_retries"],
    )
