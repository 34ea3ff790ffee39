"""Tunables of the dispatch floor, read once from settings.ANIMASTOR. Defaults are the numbers of the specification."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

# Retries admitted in five minutes, by the type of the failure (dispatch/failures.py).
RETRIES_BY_TYPE = {"transient": 50, "infrastructure": 30, "orchestration": 20, "permanent": 0}


@dataclass(frozen=True)
class Config:
    hub: str = "rq"
    tick_interval: timedelta = timedelta(seconds=5)
    tick_lease: timedelta = timedelta(seconds=30)
    ring_gap: timedelta = timedelta(milliseconds=500)  # a ring runs the tick at most twice a second
    capacity_deferral: timedelta = timedelta(seconds=60)
    fenced_deferral: timedelta = timedelta(seconds=900)
    refusals_before_failure: int = 10
    backoff_first: timedelta = timedelta(seconds=5)
    backoff_most: timedelta = timedelta(seconds=300)
    orchestration_retry: timedelta = timedelta(seconds=60)
    circuit_failures: int = 5  # transient or infrastructure, with no success between
    circuit_window: timedelta = timedelta(seconds=120)
    circuit_open: timedelta = timedelta(seconds=60)
    circuit_tests: int = 2
    retries_by_type: Mapping[str, int] = field(default_factory=dict)  # what differs from RETRIES_BY_TYPE
    retries_by_type_window: timedelta = timedelta(minutes=5)
    retries_of_all: int = 100  # of all stages
    retries_of_worker: int = 20  # of what one worker failed
    retry_rate_window: timedelta = timedelta(minutes=1)  # of the two above
    worker_beat_ttl: timedelta = timedelta(seconds=30)
    no_worker_grace: timedelta = timedelta(seconds=60)
    absent_for: timedelta = timedelta(seconds=60)  # absent twice, this far apart, is gone
    deadline_grace: timedelta = timedelta(seconds=60)
    deadline_without_evidence: timedelta = timedelta(hours=1)
    resend_unknown_after: timedelta = timedelta(seconds=60)
    submit_budget: timedelta = timedelta(seconds=10)
    submit_parallel: int = 4
    video_profile: str = "standard"  # of dispatch/rendering/video/profiles.py
    clear_for: timedelta = timedelta(hours=1)
    reconcile_interval: timedelta = timedelta(seconds=60)
    keep_journal: timedelta = timedelta(days=7)
    keep_reports: timedelta = timedelta(days=7)
    keep_dispatches: timedelta = timedelta(days=30)
    keep_commands: timedelta = timedelta(days=90)
    keep_parts: timedelta = timedelta(days=30)  # of work that was never finished
    prune_interval: timedelta = timedelta(minutes=1)
    prune_batch: int = 2000  # rows of each kind at a time

    @property
    def retry_limits(self) -> dict[str, int]:
        """Retries by failure type, every type included: one without a number would never be retried."""
        return RETRIES_BY_TYPE | dict(self.retries_by_type)


@lru_cache(maxsize=1)
def config() -> Config:
    tunables: dict[str, Any] = settings.ANIMASTOR
    return Config(**tunables)


def _forget(*, setting: str, **_: Any) -> None:
    if setting == "ANIMASTOR":
        config.cache_clear()


setting_changed.connect(_forget)
