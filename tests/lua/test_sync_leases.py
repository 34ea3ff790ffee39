import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dispatch.capacity import keys
from dispatch.capacity.admission import Wish, admit_leases
from dispatch.capacity.leases import Claim, Fence, sync_leases
from dispatch.capacity.scripts import Fenced, client
from tests.capacity import leases


def test_missing_leases_are_added_and_foreign_ones_dropped(image, fence):
    admit_leases(image, fence, 4, 0, [Wish(Claim(1, "d1")), Wish(Claim(2, "d2"))], now_s=100.0)
    synced = sync_leases(image, fence, [Claim(2, "d2"), Claim(3, "d3")], now_s=101.0)
    assert (synced.added, synced.dropped) == (1, ("d1",))
    assert leases("image") == {2: "d2", 3: "d3"}


def test_a_lease_of_an_older_dispatch_passes_to_the_active_one(image, fence):
    admit_leases(image, fence, 4, 0, [Wish(Claim(1, "old"))], now_s=100.0)
    sync_leases(image, fence, [Claim(1, "new")], now_s=101.0)
    assert leases("image") == {1: "new"}


def test_a_lease_that_expired_while_its_work_lives_is_restored(image, fence):
    admit_leases(image, fence, 4, 0, [Wish(Claim(1, "d1"))], now_s=100.0)
    late = 100.0 + 3 * image.lease_ttl_s
    sync_leases(image, fence, [Claim(1, "d1")], now_s=late)
    assert client().zscore(keys.active("image"), "1") == late + image.renewed_ttl_s


def test_a_lease_without_an_owner_and_an_owner_without_a_lease_are_dropped(image, fence):
    client().zadd(keys.active("image"), {"8": 1e12})
    client().hset(keys.owners("image"), "9", "lost")
    sync_leases(image, fence, [], now_s=100.0)
    assert leases("image") == {}


def test_a_fenced_tick_changes_nothing(image):
    sync_leases(image, Fence(7, 10_000.0), [Claim(1, "d1")], now_s=100.0)
    with pytest.raises(Fenced):
        sync_leases(image, Fence(6, 10_000.0), [], now_s=100.0)
    assert leases("image") == {1: "d1"}


PAIRS = st.dictionaries(st.integers(1, 20), st.sampled_from(["a", "b", "c"]), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(before=PAIRS, wanted=PAIRS)
def test_whatever_was_held_exactly_the_active_dispatches_hold_a_lease_afterwards(image, fence, before, wanted):
    client().delete(keys.active("image"), keys.owners("image"))
    admit_leases(image, fence, 99, 0, [Wish(Claim(asset, token)) for asset, token in before.items()], now_s=100.0)
    sync_leases(image, fence, [Claim(asset, token) for asset, token in wanted.items()], now_s=101.0)
    assert leases("image") == wanted
