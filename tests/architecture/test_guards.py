from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from django.db import connection, transaction

from dispatch.capacity.scripts import client
from dispatch.models import TickRing
from dispatch.ring import ring
from dispatch.tick.lease import acquire
from generation.models import Book

pytestmark = pytest.mark.django_db(transaction=True)


def test_redis_is_not_called_inside_an_open_transaction():
    with transaction.atomic(), pytest.raises(RuntimeError, match="Redis inside an open transaction"):
        client().ping()
    assert client().ping()


def test_a_book_is_not_locked_outside_a_transaction():
    with pytest.raises(RuntimeError, match="no lock"):
        Book.objects.lock([1])


def test_a_ring_is_noted_also_when_no_tick_worker_can_be_woken(monkeypatch):
    def away():
        raise redis.ConnectionError("nobody there")

    monkeypatch.setattr("dispatch.ring._queue", away)
    ring()
    assert TickRing.objects.get().rung_at is not None


def test_rings_without_a_tick_worker_do_not_pile_up(empty_redis):
    for _ in range(5):
        ring()
        empty_redis.delete("rq:job:tick-ring")  # as its time to live would
    assert empty_redis.llen("rq:queue:tick") == 1


def test_a_ring_does_not_wait_for_a_transaction_of_the_tick():
    ring()
    lease = acquire()
    # The transaction ends before the thread is waited for: a ring that does wait fails here and does not hang.
    with ThreadPoolExecutor(1) as other, lease.transaction():
        rung = other.submit(lambda: (ring(), connection.close()))
        assert rung.result(timeout=5)
    lease.release()
