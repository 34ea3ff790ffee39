"""The circuit of a stage, on a clock of the test's own. One clock serves both servers here."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dispatch.capacity import keys
from dispatch.capacity.admission import Verdict, Wish, admit_leases
from dispatch.capacity.leases import Claim, End, Told, release_lease, sync_leases
from dispatch.capacity.scripts import client
from dispatch.capacity.snapshot import read_stage
from dispatch.capacity.standing import Circuit
from tests.capacity import leases

BEGIN = 1000.0


class Stage:
    """What a test does to the image stage, and when."""

    def __init__(self, image, fence) -> None:
        self.image, self.fence = image, fence
        sync_leases(image, fence, [], now_s=BEGIN - 1)  # as every tick begins

    def admit(self, *assets, at, retries=(), quota=9):
        wishes = [
            Wish(Claim(asset, f"d{asset}at{at:.0f}"), "transient" if asset in retries else "") for asset in assets
        ]
        return admit_leases(self.image, self.fence, quota, 0, wishes, now_s=at)

    def end(self, asset, told, *, at, happened=None):
        """End the dispatch that holds the asset's lease; without one, some other of it."""
        dispatch = leases("image").get(asset, f"gone{asset}at{at}")
        return release_lease("image", Claim(asset, dispatch), End(told, happened or at, is_free=False), now_s=at)[1]

    def fail(self, number, *, at):
        """Let that many admitted assets fail, one second after another, and return what became of the circuit."""
        changes = []
        for index in range(number):
            self.admit(100 + index, at=at + index)
            changes.append(self.end(100 + index, Told.FAILURE, at=at + index))
        return changes

    def standing(self, at):
        return read_stage("image", now_s=at)


@pytest.fixture
def stage(image, fence) -> Stage:
    return Stage(image, fence)


def test_the_fifth_failure_within_two_minutes_opens_it_and_nothing_is_admitted(stage):
    assert stage.fail(5, at=BEGIN) == ["", "", "", "", "opened"]
    assert stage.admit(1, 2, at=BEGIN + 10) == [Verdict.CIRCUIT_OPEN] * 2
    assert stage.standing(BEGIN + 14).next_test_s == 50


def test_failures_further_apart_than_two_minutes_do_not_open_it(stage):
    assert stage.fail(4, at=BEGIN) == [""] * 4
    assert stage.fail(4, at=BEGIN + 124) == [""] * 4


def test_a_success_between_them_starts_the_count_anew(stage):
    stage.fail(4, at=BEGIN)
    stage.admit(1, at=BEGIN + 10)
    stage.end(1, Told.SUCCESS, at=BEGIN + 10)
    assert stage.fail(4, at=BEGIN + 20) == [""] * 4


def test_what_says_nothing_counts_for_nothing(stage):
    stage.fail(4, at=BEGIN)
    stage.admit(1, at=BEGIN + 10)
    assert stage.end(1, Told.NONE, at=BEGIN + 10) == ""
    assert stage.fail(1, at=BEGIN + 20) == ["opened"]


def test_an_end_that_is_told_twice_counts_once(stage):
    for _ in range(9):
        release_lease("image", Claim(1, "d1"), End(Told.FAILURE, BEGIN), now_s=BEGIN)
    assert stage.standing(BEGIN).failures == 1


def test_failures_and_successes_count_in_the_order_they_happened_not_in_that_they_are_told(stage):
    stage.end(1, Told.SUCCESS, at=BEGIN + 30, happened=BEGIN + 30)
    for asset in range(10, 16):
        assert stage.end(asset, Told.FAILURE, at=BEGIN + 40, happened=BEGIN + 20) == ""
    assert stage.standing(BEGIN + 40).failures == 0


def test_after_a_minute_two_tests_may_run_and_no_third(stage):
    stage.fail(5, at=BEGIN)
    assert stage.admit(1, 2, 3, at=BEGIN + 64) == [Verdict.GRANTED, Verdict.GRANTED, Verdict.HALF_OPEN_LIMIT]
    assert stage.standing(BEGIN + 64).tests == 2
    assert set(leases("image")) == {1, 2}


def test_tests_take_what_has_not_failed_first(stage):
    stage.fail(5, at=BEGIN)
    verdicts = stage.admit(1, 2, 3, at=BEGIN + 64, retries={1, 2})
    assert verdicts == [Verdict.GRANTED, Verdict.HALF_OPEN_LIMIT, Verdict.GRANTED]


def test_one_good_test_closes_it(stage):
    stage.fail(5, at=BEGIN)
    stage.admit(1, 2, at=BEGIN + 64)
    assert stage.end(1, Told.SUCCESS, at=BEGIN + 70) == "closed"
    assert stage.admit(3, 4, 5, at=BEGIN + 71) == [Verdict.GRANTED] * 3
    assert stage.end(2, Told.FAILURE, at=BEGIN + 72) == ""
    assert stage.standing(BEGIN + 72).failures == 1


def test_one_failed_test_opens_it_again_for_a_minute_and_since_stays(stage):
    stage.fail(5, at=BEGIN)
    stage.admit(1, at=BEGIN + 64)
    assert stage.end(1, Told.FAILURE, at=BEGIN + 70) == "reopened"
    assert stage.admit(2, at=BEGIN + 129) == [Verdict.CIRCUIT_OPEN]
    assert stage.admit(2, at=BEGIN + 130) == [Verdict.GRANTED]
    assert stage.standing(BEGIN + 130).open_for_s == 126


@pytest.mark.parametrize("at", [BEGIN + 10, BEGIN + 66])
def test_36_a_late_success_leaves_it_open_or_half_open(stage, at):
    stage.admit(50, at=BEGIN)
    stage.fail(5, at=BEGIN)
    assert stage.end(50, Told.SUCCESS, at=at) == ""
    assert stage.standing(at).circuit == (Circuit.OPEN if at < BEGIN + 64 else Circuit.HALF_OPEN)


def test_a_test_of_an_earlier_opening_moves_nothing_and_holds_no_permit(stage):
    stage.fail(5, at=BEGIN)
    stage.admit(1, 2, at=BEGIN + 64)
    stage.end(1, Told.FAILURE, at=BEGIN + 70)
    assert stage.standing(BEGIN + 130).tests == 0
    assert stage.end(2, Told.SUCCESS, at=BEGIN + 131) == ""
    assert stage.standing(BEGIN + 131).circuit == Circuit.HALF_OPEN


@pytest.mark.parametrize("told", [Told.NONE, Told.FAILURE, Told.SUCCESS])
def test_13_however_a_test_ends_its_permit_is_free_ten_times_over(stage, told):
    stage.fail(5, at=BEGIN)
    at = BEGIN + 64
    for _ in range(10):
        assert stage.admit(1, 2, at=at) == [Verdict.GRANTED] * 2
        stage.end(1, told, at=at + 1)
        stage.end(2, Told.NONE, at=at + 1)
        assert stage.standing(at + 61).tests == 0
        at += 62


def test_13_a_test_that_became_no_dispatch_gives_its_permit_back_by_the_next_sync(stage):
    stage.fail(5, at=BEGIN)
    stage.admit(1, 2, at=BEGIN + 64)
    synced = sync_leases(stage.image, stage.fence, [Claim(2, leases("image")[2])], now_s=BEGIN + 65)
    assert (synced.dropped, synced.standing.tests) == (("d1at1064",), 1)


def test_a_refused_candidate_takes_no_permit(stage):
    stage.fail(5, at=BEGIN)
    stage.admit(1, at=BEGIN + 64)
    for _ in range(10):
        assert stage.admit(1, at=BEGIN + 65) == [Verdict.DUPLICATE]
        assert stage.admit(2, at=BEGIN + 65, quota=1) == [Verdict.BACKPRESSURE]
    assert stage.standing(BEGIN + 65).tests == 1


def test_a_sync_keeps_the_permit_of_a_lease_that_lives(stage):
    stage.fail(5, at=BEGIN)
    stage.admit(1, at=BEGIN + 64)
    sync_leases(stage.image, stage.fence, [Claim(1, leases("image")[1])], now_s=BEGIN + 65)
    assert stage.end(1, Told.SUCCESS, at=BEGIN + 70) == "closed"


def test_an_operators_reset_closes_it_once(stage):
    sync_leases(stage.image, stage.fence, [], resets=3, now_s=BEGIN)
    stage.fail(5, at=BEGIN)
    sync_leases(stage.image, stage.fence, [], resets=4, now_s=BEGIN + 10)
    assert stage.standing(BEGIN + 10).circuit == Circuit.CLOSED
    stage.fail(5, at=BEGIN + 20)
    sync_leases(stage.image, stage.fence, [], resets=4, now_s=BEGIN + 30)
    assert stage.standing(BEGIN + 30).circuit == Circuit.OPEN


def test_after_redis_was_emptied_a_reset_is_obeyed_all_the_same(stage):
    sync_leases(stage.image, stage.fence, [], resets=3, now_s=BEGIN)
    client().flushdb()
    stage.fail(5, at=BEGIN)
    sync_leases(stage.image, stage.fence, [], resets=4, now_s=BEGIN + 10)
    assert stage.standing(BEGIN + 10).circuit == Circuit.CLOSED


def test_failures_from_before_a_reset_that_are_told_after_it_do_not_count(stage):
    stage.fail(4, at=BEGIN)
    sync_leases(stage.image, stage.fence, [], resets=1, now_s=BEGIN + 10)
    for asset in range(10, 16):
        stage.end(asset, Told.FAILURE, at=BEGIN + 20, happened=BEGIN + 5)
    assert stage.standing(BEGIN + 20).failures == 0


def test_failures_of_an_hour_ago_are_not_told_as_lately(stage):
    stage.fail(4, at=BEGIN)
    assert stage.standing(BEGIN + 10).failures == 4
    assert stage.standing(BEGIN + 3600).failures == 0


def test_the_circuit_of_one_stage_says_nothing_about_another(stage):
    stage.fail(5, at=BEGIN)
    assert read_stage("video", now_s=BEGIN + 5).circuit == Circuit.CLOSED


STEPS = st.lists(
    st.tuples(st.sampled_from(["admit", "success", "failure", "none", "wait"]), st.integers(1, 6)), max_size=60
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(steps=STEPS)
def test_whatever_happens_no_more_than_two_tests_run_and_an_open_circuit_admits_nothing(stage, steps):
    client().flushdb()
    sync_leases(stage.image, stage.fence, [], now_s=BEGIN)
    at = BEGIN
    for step, number in steps:
        at += 1
        before = stage.standing(at)
        match step:
            case "wait":
                at += number * 20
            case "admit":
                granted = stage.admit(number, number + 1, at=at).count(Verdict.GRANTED)
                assert granted == 0 or before.circuit != Circuit.OPEN
            case told:
                stage.end(number, Told(told), at=at)
        after = stage.standing(at)
        assert after.tests <= 2
        if before.circuit == Circuit.OPEN and step != "wait":
            assert after.circuit == Circuit.OPEN or after.next_test_s == 0
        assert set(client().hkeys(keys.owners("image"))) == set(client().zrange(keys.active("image"), 0, -1))
