"""The tick's lease: one run at a time in the cluster, and a paused old owner that writes nothing."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Greatest, Now

from dispatch.capacity.leases import Fence
from dispatch.capacity.scripts import CapacityUnavailable, held_fence, server_time_s
from dispatch.config import config
from dispatch.models import TickLease

# Written out: a tick says these twenty times, and building them was a seventh of it.
MINE = "WHERE id = 1 AND fence = %s AND owner = %s"
# Django has no FOR SHARE. Sharers do not wait for each other; whoever takes the lease over waits for all of them.
HOLD_ROW = f"SELECT 1 FROM dispatch_ticklease {MINE} FOR SHARE"  # noqa: S608 - no text from outside
RENEW = f"UPDATE dispatch_ticklease SET expires_at = statement_timestamp() + make_interval(secs => %s) {MINE}"  # noqa: S608


class LostTick(Exception):
    """Another process has taken the tick over."""


class Lease:
    """A held tick lease. Every write of the tick goes through `transaction()` or carries `fence()`."""

    def __init__(self, owner: str, number: int, redis_offset_s: float | None, taken_at: float) -> None:
        self.owner = owner
        self.number = number
        self._redis_offset_s = redis_offset_s
        self._renewed_at = taken_at

    def fence(self) -> Fence:
        """Return the proof for Redis. Raises CapacityUnavailable when Redis's clock could not be read."""
        if self._redis_offset_s is None:
            raise CapacityUnavailable("Redis did not answer when this tick began")
        valid_until = self._renewed_at + self._redis_offset_s + config().tick_lease.total_seconds()
        return Fence(self.number, valid_until)

    def renew(self) -> None:
        """Extend the lease; raises LostTick when it passed on."""
        now = time.monotonic()
        with connection.cursor() as cursor:
            cursor.execute(RENEW, [config().tick_lease.total_seconds(), self.number, self.owner])
            if not cursor.rowcount:
                raise LostTick
        self._renewed_at = now

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Open a transaction that only commits while the lease is ours: taking it over waits for the row."""
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(HOLD_ROW, [self.number, self.owner])
                if cursor.fetchone() is None:
                    raise LostTick
            yield

    def release(self) -> None:
        TickLease.objects.filter(id=1, fence=self.number, owner=self.owner).update(expires_at=None, owner="")


def acquire() -> Lease | None:
    """Take the lease if nobody holds it; return None when another run does."""
    TickLease.objects.get_or_create(id=1)
    offset, held = _redis_clock_and_fence()
    taken_at = time.monotonic()
    owner = uuid.uuid4().hex
    free = TickLease.objects.filter(Q(expires_at__isnull=True) | Q(expires_at__lt=Now()), id=1)
    taken = free.update(
        owner=owner,
        fence=Greatest(F("fence"), Value(held)) + 1,
        expires_at=Now() + config().tick_lease,
        started_at=Now(),
    )
    if not taken:
        return None
    number = TickLease.objects.values_list("fence", flat=True).get(id=1, owner=owner)
    return Lease(owner, number, offset, taken_at)


def _redis_clock_and_fence() -> tuple[float | None, int]:
    """Return Redis's clock minus our monotonic one, or less, and the fence it holds; (None, 0) when Redis is away.

    A pause between the two clocks must not stretch the lease. The fence in PostgreSQL starts again when a database is
    restored or made anew beside an old Redis, which would then refuse us for as many ticks as it is ahead.
    """
    try:
        held = held_fence()
        server_s = server_time_s()
    except CapacityUnavailable:
        return None, 0
    return server_s - time.monotonic(), held
