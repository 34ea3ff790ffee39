from concurrent.futures import ThreadPoolExecutor

import pytest

from dispatch.capacity import keys
from dispatch.capacity.admission import Verdict, Wish, admit_leases
from dispatch.capacity.leases import Claim, Fence
from dispatch.capacity.scripts import Fenced, client, server_time_s
from tests.capacity import leases


def claims(*assets):
    return [Wish(Claim(asset, f"d{asset}")) for asset in assets]


def test_candidates_are_granted_in_order_while_the_quota_lasts(image, fence):
    verdicts = admit_leases(image, fence, 2, 0, claims(1, 2, 3), now_s=100.0)
    assert verdicts == [Verdict.GRANTED, Verdict.GRANTED, Verdict.BACKPRESSURE]
    assert leases("image") == {1: "d1", 2: "d2"}


def test_an_asset_that_holds_a_lease_is_a_duplicate_and_takes_nothing(image, fence):
    admit_leases(image, fence, 4, 0, claims(1), now_s=100.0)
    assert admit_leases(image, fence, 4, 0, [Wish(Claim(1, "other"))], now_s=101.0) == [Verdict.DUPLICATE]
    assert leases("image") == {1: "d1"}


def test_active_rows_hold_the_quota_when_their_leases_were_lost(image, fence):
    assert admit_leases(image, fence, 4, 4, claims(1), now_s=100.0) == [Verdict.BACKPRESSURE]
    assert admit_leases(image, fence, 4, 3, claims(1, 2), now_s=100.0) == [Verdict.GRANTED, Verdict.BACKPRESSURE]


def test_an_expired_lease_frees_its_slot(image, fence):
    admit_leases(image, fence, 1, 0, claims(1), now_s=100.0)
    assert admit_leases(image, fence, 1, 0, claims(2), now_s=100.0 + image.lease_ttl_s) == [Verdict.GRANTED]
    assert leases("image") == {2: "d2"}


def test_a_lowered_quota_kills_nothing_and_admits_nothing(image, fence):
    admit_leases(image, fence, 3, 0, claims(1, 2, 3), now_s=100.0)
    assert admit_leases(image, fence, 1, 3, claims(4), now_s=101.0) == [Verdict.BACKPRESSURE]
    assert set(leases("image")) == {1, 2, 3}


def test_a_quota_of_zero_admits_nothing(image, fence):
    assert admit_leases(image, fence, 0, 0, claims(1), now_s=100.0) == [Verdict.BACKPRESSURE]


def test_a_lower_fence_is_refused_and_changes_nothing(image):
    admit_leases(image, Fence(7, 10_000.0), 4, 0, claims(1), now_s=100.0)
    with pytest.raises(Fenced):
        admit_leases(image, Fence(6, 10_000.0), 4, 0, claims(2), now_s=100.0)
    assert set(leases("image")) == {1}


def test_a_tick_whose_time_is_over_is_refused_also_when_redis_forgot_the_fence(image):
    with pytest.raises(Fenced):
        admit_leases(image, Fence(6, 99.0), 4, 0, claims(2), now_s=100.0)
    assert leases("image") == {}
    assert client().get(keys.FENCE) is None


def test_without_a_given_time_the_clock_of_redis_counts(image):
    now_s = server_time_s()
    admit_leases(image, Fence(1, now_s + 60), 4, 0, claims(1))
    (expiry,) = [score for _, score in client().zrange(keys.active("image"), 0, -1, withscores=True)]
    assert 0 <= expiry - now_s - image.lease_ttl_s < 30


def test_fifty_concurrent_callers_never_exceed_the_quota(image):
    fence = Fence(1, server_time_s() + 600)
    with ThreadPoolExecutor(50) as pool:
        verdicts = list(pool.map(lambda n: admit_leases(image, fence, 2, 0, claims(n))[0], range(1, 51)))
    assert verdicts.count(Verdict.GRANTED) == 2
    assert len(leases("image")) == 2
