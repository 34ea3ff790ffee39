"""Rate budgets bind retries only: by failure type, by the worker that failed, and over all stages."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from dispatch.capacity import keys
from dispatch.capacity.admission import Verdict, Wish, admit_leases
from dispatch.capacity.leases import Claim, End, Fence, Told, release_lease
from dispatch.capacity.scripts import client, server_time_s
from dispatch.capacity.snapshot import read_stage
from generation.stages import STAGES, StageName

BEGIN = 1000.0


def retry(stage, fence, number, *, at=BEGIN, kind="transient", worker="", first=1):
    """Ask for that many retries and return how many were granted."""
    name = "d" if stage.name == "image" else stage.name
    wishes = [Wish(Claim(asset, f"{name}{asset}"), kind, worker) for asset in range(first, first + number)]
    verdicts = admit_leases(stage, fence, 1000, 0, wishes, now_s=at)
    assert set(verdicts) <= {Verdict.GRANTED, Verdict.RETRY_BUDGET_EXCEEDED}
    return verdicts.count(Verdict.GRANTED)


@pytest.mark.parametrize(
    ("kind", "most"), [("transient", 50), ("infrastructure", 30), ("orchestration", 20), ("permanent", 0)]
)
def test_a_type_has_its_own_budget_for_five_minutes(image, fence, kind, most):
    assert retry(image, fence, 60, kind=kind) == most
    assert retry(image, fence, 60, kind=kind, at=BEGIN + 299, first=100) == 0
    assert retry(image, fence, 60, kind=kind, at=BEGIN + 301, first=200) == most


def test_a_budget_that_is_used_up_binds_no_first_attempt_and_no_other_type(image, fence):
    retry(image, fence, 60)
    assert admit_leases(image, fence, 1000, 0, [Wish(Claim(500, "d500"))], now_s=BEGIN) == [Verdict.GRANTED]
    assert retry(image, fence, 1, kind="infrastructure", first=600) == 1


def test_what_one_worker_failed_is_retried_twenty_times_a_minute(image, fence):
    assert retry(image, fence, 30, worker="w1") == 20
    assert retry(image, fence, 5, worker="w2", first=100) == 5
    assert retry(image, fence, 5, worker="w1", at=BEGIN + 61, first=200) == 5


def test_all_stages_together_retry_a_hundred_times_a_minute(fence):
    granted = []
    for name in StageName:
        granted.append(retry(STAGES[name], fence, 30))
        granted.append(retry(STAGES[name], fence, 30, kind="infrastructure", first=100))
    assert sum(granted) == 100
    assert retry(STAGES[StageName.VIDEO], fence, 10, at=BEGIN + 61, first=500) == 10


def test_a_retry_that_cost_nothing_gives_its_unit_back_and_only_its_own(image, fence):
    retry(image, fence, 50)
    assert read_stage("image", now_s=BEGIN).spent_types == {"transient", "permanent"}
    for _ in range(3):
        release_lease("image", Claim(7, "d7"), End(), now_s=BEGIN)
    assert read_stage("image", now_s=BEGIN).retries == {"transient": 49}
    assert retry(image, fence, 9, first=100) == 1


def test_a_retry_that_failed_keeps_its_unit_spent(image, fence):
    retry(image, fence, 50)
    release_lease("image", Claim(7, "d7"), End(Told.FAILURE, BEGIN, is_free=False), now_s=BEGIN)
    assert read_stage("image", now_s=BEGIN).retries == {"transient": 50}


def test_a_refused_retry_spends_nothing(image, fence):
    retry(image, fence, 20, worker="w1")
    for _ in range(10):
        assert retry(image, fence, 10, worker="w1", first=100) == 0
    standing = read_stage("image", now_s=BEGIN)
    assert (standing.retries, standing.all_retries) == ({"transient": 20}, 20)
    assert standing.spent_workers == {"w1"}


def test_worker_names_may_hold_anything(image, fence):
    retry(image, fence, 2, worker="a:b c:%d")
    assert read_stage("image", now_s=BEGIN).workers == {"a:b c:%d": 2}


def test_51_ten_consumers_at_once_spend_exactly_what_there_is(image, settings):
    settings.ANIMASTOR = {"retries_by_type": {"transient": 10}}
    fence = Fence(1, server_time_s() + 600)
    with ThreadPoolExecutor(10) as pool:
        asked = [[Wish(Claim(10 * row + n, f"d{row}x{n}"), "transient") for n in range(10)] for row in range(10)]
        told = list(pool.map(lambda wishes: admit_leases(image, fence, 1000, 0, wishes), asked))
    assert sum(verdicts.count(Verdict.GRANTED) for verdicts in told) == 10
    assert client().zcard(keys.retries("image")) == 10


def test_a_limit_of_zero_means_none(image, fence, settings):
    settings.ANIMASTOR = {"retries_by_type": {"transient": 0}}
    assert retry(image, fence, 3) == 0
