"""What circuit and rate budgets allow, as the scripts read it."""

import json

from dispatch.config import config


def limits_argument() -> str:
    """Return the limits as JSON: counts, and windows in seconds."""
    numbers = config()
    return json.dumps(
        {
            "failures": numbers.circuit_failures,
            "window_s": numbers.circuit_window.total_seconds(),
            "open_s": numbers.circuit_open.total_seconds(),
            "tests": numbers.circuit_tests,
            "types": numbers.retry_limits,
            "type_window_s": numbers.retries_by_type_window.total_seconds(),
            "all": numbers.retries_of_all,
            "worker": numbers.retries_of_worker,
            "rate_window_s": numbers.retry_rate_window.total_seconds(),
        }
    )
