"""The tick's lease is one owner's at a time, and nothing is said for who lost it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dispatch.config import config
from dispatch.models import TickLease
from dispatch.tick.lease import LostTick, acquire

pytestmark = pytest.mark.django_db(transaction=True)


def rest() -> timedelta:
    return TickLease.objects.get().expires_at - timezone.now()


def test_renewed_it_lasts_its_whole_time_again():
    lease = acquire()
    TickLease.objects.update(expires_at=timezone.now() + timedelta(seconds=1))
    lease.renew()
    assert config().tick_lease - timedelta(seconds=5) < rest() <= config().tick_lease


def test_while_it_is_held_nobody_else_gets_it():
    assert acquire() is not None
    assert acquire() is None


def test_who_lost_it_neither_renews_nor_writes_nor_releases(lost_tick):
    old = acquire()
    lost_tick()
    new = acquire()
    left = rest()
    with pytest.raises(LostTick):
        old.renew()
    with pytest.raises(LostTick), old.transaction():
        pytest.fail("an old owner began to write")
    old.release()
    held = TickLease.objects.get()
    assert (held.owner, held.fence) == (new.owner, new.number)
    assert rest() <= left
    new.renew()


def test_released_it_is_lost_to_its_owner_and_free_for_others():
    lease = acquire()
    lease.release()
    with pytest.raises(LostTick):
        lease.renew()
    assert acquire().number == lease.number + 1
