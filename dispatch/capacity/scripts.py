"""The Redis client of the capacity floor and its scripts."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.commands.core import Script
from redis.retry import Retry

from dispatch.guards import forbid_open_transaction

from . import keys

SOURCES = Path(__file__).parent / "lua"
# Put before every script, in this order.
SHARED = ("prelude", "circuit", "budgets", "standing")
SOCKET_TIMEOUT_S = 5


class CapacityUnavailable(Exception):
    """Redis cannot be reached or does not answer as it should."""


class Fenced(Exception):
    """Another process has taken the tick over; nothing was written."""


class GuardedRedis(redis.Redis):
    def execute_command(self, *args: Any, **options: Any) -> Any:
        forbid_open_transaction("Redis")
        return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]


@lru_cache(maxsize=1)
def client() -> redis.Redis:
    # One attempt, no back-off: the caller is a tick that comes again, or a person who waits.
    return GuardedRedis.from_url(
        settings.REDIS_URL, socket_timeout=SOCKET_TIMEOUT_S, retry=Retry(NoBackoff(), 0), decode_responses=True
    )


@lru_cache
def _script(name: str) -> Script:
    return client().register_script("".join((SOURCES / f"{part}.lua").read_text() for part in (*SHARED, name)))


def call(name: str, keys: list[str], args: list[Any], now_s: float | None = None) -> Any:
    """Run a script once, at the given time or by Redis's own clock. Raises Fenced, CapacityUnavailable."""
    try:
        return _script(name)(keys=keys, args=[_now_argument(now_s), *args])
    except redis.ResponseError as error:
        if str(error).startswith("FENCED"):
            raise Fenced(str(error)) from error
        raise CapacityUnavailable(str(error)) from error
    except redis.RedisError as error:
        raise CapacityUnavailable(str(error)) from error


def _now_argument(now_s: float | None) -> str:
    return "" if now_s is None else repr(now_s)


def held_fence() -> int:
    """Return the highest fence Redis remembers, 0 when it remembers none. Raises CapacityUnavailable."""
    try:
        return int(client().get(keys.FENCE) or 0)
    except redis.RedisError as error:
        raise CapacityUnavailable(str(error)) from error


def server_time_s() -> float:
    """Return Redis's clock, in seconds since the epoch. Raises CapacityUnavailable."""
    try:
        seconds, microseconds = client().time()
    except redis.RedisError as error:
        raise CapacityUnavailable(str(error)) from error
    return float(seconds) + float(microseconds) / 1_000_000
