"""One suite over every hub: what the tick and the results rely on."""

import json
from collections.abc import Callable
from uuid import uuid4

import django_rq
import pytest

from dispatch.hubs.base import Envelope, Hub, HubUnavailable, JobRef, Life
from dispatch.hubs.rq import keys
from dispatch.hubs.rq.hub import RqHub
from tests.doubles.hub import FakeHub


class Harness:
    """A hub, and how to make its workers do what a test needs."""

    def __init__(self, hub: Hub, start: Callable, lose: Callable, go_away: Callable) -> None:
        self.hub, self.start, self.lose, self.go_away = hub, start, lose, go_away


def fake() -> Harness:
    hub = FakeHub()

    def go_away() -> None:
        hub.down = True

    return Harness(hub, hub.running.add, hub.forget, go_away)


def rq(monkeypatch) -> Harness:
    connection = django_rq.get_connection("gpu-image")

    def start(ref: JobRef) -> None:
        rq_id = keys.rq_job_id(ref.dispatch_id, ref.job_id)
        connection.lrem(keys.queue(ref.stage), 0, rq_id)
        connection.sadd(keys.WORKERS, "w1")
        told = {"stage": ref.stage, "job": rq_id, "draining": False}
        connection.set(keys.beat("w1"), json.dumps(told), ex=30)

    def lose(ref: JobRef) -> None:
        connection.flushdb()

    def go_away() -> None:
        nowhere = django_rq.get_connection("gpu-image")
        nowhere.connection_pool.connection_kwargs.update(path="/nowhere.sock")
        nowhere.connection_pool.disconnect()
        monkeypatch.setattr("dispatch.hubs.rq.queues.connection", lambda: nowhere)

    return Harness(RqHub(), start, lose, go_away)


@pytest.fixture(params=["fake", "rq"])
def harness(request, monkeypatch) -> Harness:
    return fake() if request.param == "fake" else rq(monkeypatch)


def envelope(book: int = 1, dispatch_id: str = "") -> Envelope:
    dispatch = dispatch_id or uuid4().hex
    ref = JobRef(dispatch, f"b{book}_c1_s1_iu-1:iu_image", "image")
    return Envelope(ref, "iu-1", 600, {"any": "body"})


def life(harness: Harness, ref: JobRef) -> Life:
    return harness.hub.evidence([ref])[ref]


def test_a_submitted_job_is_queued_and_a_repeat_is_a_duplicate_receipt(harness):
    sent = envelope()
    assert not harness.hub.submit(sent).duplicate
    assert life(harness, sent.ref) == Life.QUEUED
    assert harness.hub.submit(sent).duplicate
    assert life(harness, sent.ref) == Life.QUEUED


def test_a_job_nobody_knows_is_absent(harness):
    assert life(harness, envelope().ref) == Life.ABSENT


def test_a_job_a_worker_names_is_running(harness):
    sent = envelope()
    harness.hub.submit(sent)
    harness.start(sent.ref)
    assert life(harness, sent.ref) == Life.RUNNING


def test_a_lost_job_is_absent_and_may_be_submitted_again(harness):
    sent = envelope()
    harness.hub.submit(sent)
    harness.lose(sent.ref)
    assert life(harness, sent.ref) == Life.ABSENT
    assert not harness.hub.submit(sent).duplicate


def test_a_clear_of_dispatches_drops_theirs_and_nothing_else(harness):
    one, other = envelope(), envelope()
    harness.hub.submit(one)
    harness.hub.submit(other)
    report = harness.hub.clear([one.ref.dispatch_id, "", one.ref.dispatch_id])
    assert (report.requested, report.cleared, report.failed) == (1, {one.ref.dispatch_id}, set())
    assert life(harness, one.ref) == Life.ABSENT
    assert life(harness, other.ref) == Life.QUEUED


def test_a_clear_of_a_book_never_touches_a_book_whose_number_begins_alike(harness):
    one, alike = envelope(book=12), envelope(book=123)
    harness.hub.submit(one)
    harness.hub.submit(alike)
    assert harness.hub.clear([], "b12").cleared == {"b12"}
    assert life(harness, one.ref) == Life.ABSENT
    assert life(harness, alike.ref) == Life.QUEUED


def test_a_clear_without_ids_and_book_clears_nothing(harness):
    sent = envelope()
    harness.hub.submit(sent)
    assert harness.hub.clear([]).requested == 0
    assert harness.hub.clear([""], None).requested == 0
    assert life(harness, sent.ref) == Life.QUEUED


def test_a_clear_of_a_dispatch_the_hub_does_not_know_is_confirmed(harness):
    assert harness.hub.clear(["f" * 32]).cleared == {"f" * 32}


def test_a_hub_that_is_away_says_so_and_proves_nothing(harness):
    sent = envelope()
    harness.go_away()
    with pytest.raises(HubUnavailable):
        harness.hub.submit(sent)
    with pytest.raises(HubUnavailable):
        harness.hub.workers()
    with pytest.raises(HubUnavailable):
        harness.hub.undelivered()
    assert life(harness, sent.ref) == Life.UNKNOWN
    assert harness.hub.clear([sent.ref.dispatch_id]).failed == {sent.ref.dispatch_id}


def test_nothing_waits_in_the_mailbox_of_a_fresh_hub(harness):
    assert list(harness.hub.undelivered()) == []


def test_it_tells_which_dispatches_it_holds_queued_or_running(harness):
    one, two = envelope(), envelope()
    for sent in (one, two):
        harness.hub.submit(sent)
    harness.start(one.ref)
    assert set(harness.hub.held()) == {one.ref.dispatch_id, two.ref.dispatch_id}
    harness.hub.clear({two.ref.dispatch_id})
    assert set(harness.hub.held()) == {one.ref.dispatch_id}
    harness.go_away()
    with pytest.raises(HubUnavailable):
        harness.hub.held()
