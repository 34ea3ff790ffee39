"""A clock that stands still until it is moved: PostgreSQL's, Redis's and Python's labels alike."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

from django.db.models.functions import Now


class Clock:
    def __init__(self) -> None:
        self.began = self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @property
    def passed_s(self) -> float:
        return (self.now - self.began).total_seconds()


@contextmanager
def stopped_clock() -> Iterator[Clock]:
    """Everything that asks for the time in here goes by the clock returned."""
    clock = Clock()

    def as_sql(now: Now, compiler: Any, connection: Any, **context: Any) -> Any:
        return now.as_sql(compiler, connection, template=f"'{clock.now.isoformat()}'::timestamptz", **context)

    def timestamp(_: float | None = None) -> float:
        return clock.now.timestamp()

    with (
        patch.object(Now, "as_postgresql", as_sql),
        patch("django.utils.timezone.now", lambda: clock.now),
        patch("dispatch.capacity.scripts._now_argument", lambda given: repr(timestamp(given))),
        patch("dispatch.tick.lease.server_time_s", timestamp),
    ):
        yield clock
