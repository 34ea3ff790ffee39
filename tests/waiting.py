import time
from collections.abc import Callable

POLL_S = 0.02


def wait_until(condition: Callable[[], object], timeout_s: float = 30.0) -> None:
    """Return once the condition holds; fail the test when it does not within `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not true after {timeout_s} s: {condition}")
        time.sleep(POLL_S)
