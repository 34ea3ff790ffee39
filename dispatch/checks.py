"""System checks: numbers that contradict each other stop the start."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.core.checks import CheckMessage, Error, register

from generation.stages import STAGES

from .config import RETRIES_BY_TYPE, config
from .rendering.video.profiles import PROFILES

HUB_FLOOR_S = 600  # a GPU hub never uses a shorter job timeout


def register_checks() -> None:
    register(check_numbers)


def check_numbers(**_: Any) -> list[CheckMessage]:
    return [Error(message, id=code) for holds, message, code in _rules() if not holds]


def _rules() -> Iterable[tuple[bool, str, str]]:
    numbers = config()
    capacity, fenced = numbers.capacity_deferral, numbers.fenced_deferral
    ordered = timedelta(0) < capacity <= timedelta(seconds=600) < fenced
    yield ordered, "0 < capacity_deferral ≤ 600 s < fenced_deferral does not hold.", "dispatch.E001"
    yield (
        numbers.worker_beat_ttl < numbers.no_worker_grace,
        "worker_beat_ttl < no_worker_grace does not hold.",
        ("dispatch.E002"),
    )
    yield (
        3 * numbers.tick_interval < numbers.tick_lease,
        "3 × tick_interval < tick_lease does not hold.",
        ("dispatch.E003"),
    )
    yield (
        numbers.video_profile in PROFILES,
        f"There is no video profile {numbers.video_profile!r}. Profiles are {', '.join(PROFILES)}.",
        "dispatch.E006",
    )
    unknown = sorted(set(numbers.retries_by_type) - set(RETRIES_BY_TYPE))
    yield not unknown, f"retries_by_type: there is no failure type {', '.join(unknown)}.", "dispatch.E007"
    counts = [*numbers.retry_limits.values(), numbers.retries_of_all, numbers.retries_of_worker]
    yield min(counts) >= 0, "A retry budget is below 0.", "dispatch.E008"
    windows = (numbers.circuit_window, numbers.circuit_open, numbers.retries_by_type_window, numbers.retry_rate_window)
    opens = min(numbers.circuit_failures, numbers.circuit_tests) >= 1 and min(windows) > timedelta(0)
    yield opens, "A circuit needs a failure, a test and windows of more than 0 s.", "dispatch.E009"
    for stage in STAGES.values():
        yield (
            stage.stall_s <= stage.job_timeout_s,
            f"{stage.name}: stall window ≤ job timeout does not hold.",
            ("dispatch.E004"),
        )
        yield stage.job_timeout_s >= HUB_FLOOR_S, f"{stage.name}: job timeout ≥ 600 s does not hold.", "dispatch.E005"
