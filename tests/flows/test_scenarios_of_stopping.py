"""Scenarios about taking work back: layers, cancels in every state, what is gone from the hub."""

import pytest

from dispatch.hubs.base import HubDeclined
from dispatch.models import Dispatch, Job
from dispatch.results.accept import claim
from dispatch.tick import run_tick
from generation.commands import cancel, cancel_task, delete, layers, regenerate
from generation.commands.regenerate import Scope
from generation.models import Asset, Task
from tests.capacity import leases
from tests.doubles.hub import FakeHub
from tests.doubles.pictures import deliver_all
from tests.factories.books import make_book
from tests.flows.asking import ask, image, states

pytestmark = pytest.mark.django_db(transaction=True)


def flush(empty_redis, hub):
    """Empty Redis and the hub, as a restart of both without their data."""
    empty_redis.flushdb()
    hub.jobs.clear()


def switch(book, actor, enabled, stage="video"):
    layers.apply(layers.Request(book.pk, stage, enabled), actor)


@pytest.mark.parametrize("ending", ["cancelled", "deleted", "finished"])
def test_09_jobs_of_books_that_ended_are_purged_and_no_others(ending, actor, hub):
    first, second = make_book(scenes=1, key="import_12"), make_book(scenes=1, key="import_123")
    ask(first, actor)
    ask(second, actor)
    run_tick(hub)
    ended = Dispatch.objects.get(book=first)
    match ending:
        case "cancelled":
            cancel.apply(cancel.Request(first.pk), actor)
        case "deleted":
            delete.apply(delete.Request(delete.What.BOOK, (first.pk,)), actor)
        case "finished":
            Dispatch.objects.filter(pk=ended.pk).update(status="succeeded")
            ended.jobs.update(status="stopping")
    run_tick(hub)
    assert {ref.dispatch_id for ref in hub.jobs} == {Dispatch.objects.get(book=second).dispatch_id}
    assert states(second) == ["generating"]


@pytest.mark.long
@pytest.mark.parametrize("order", ["flush first", "flush last", "flush twice"])
def test_25_a_layer_that_is_off_and_a_book_that_was_stopped_stay_so(order, actor, hub, empty_redis):
    book, off = make_book(scenes=2), make_book(scenes=2)
    for one in (book, off):
        ask(one, actor)
    run_tick(hub)
    if order != "flush last":
        flush(empty_redis, hub)
    cancel.apply(cancel.Request(book.pk), actor)
    switch(off, actor, False, "image")
    if order != "flush first":
        flush(empty_redis, hub)
    for restarted in (hub, FakeHub(), FakeHub()):
        run_tick(restarted)
        run_tick(restarted)
        assert restarted.jobs == {}
    assert states(book) == states(off) == ["dirty", "dirty"]
    assert leases("image") == {}


@pytest.mark.long
def test_26_switching_a_layer_twenty_times_starts_nothing_and_leaves_no_task_stuck(actor, hub):
    book = make_book(scenes=1)
    ask(book, actor)
    run_tick(hub)
    deliver_all()
    ask(book, actor, "video")
    run_tick(hub)
    assert Dispatch.objects.filter(stage="video").count() == 1
    for _ in range(20):
        switch(book, actor, False)
        run_tick(hub)
        switch(book, actor, True)
        run_tick(hub)
    assert Dispatch.objects.filter(stage="video").count() == 1
    assert not Task.objects.filter(status__in=Task.LIVE).exists()
    assert (leases("video"), hub.jobs.keys() & {ref for ref in hub.jobs if ref.stage == "video"}) == ({}, set())


def test_27_cancelling_a_pending_task_leaves_the_running_one_as_it_is(actor, hub):
    book = make_book(scenes=6)
    scenes = list(book.scenes.order_by("position").values_list("pk", flat=True))
    running = regenerate.apply(regenerate.Request(book.pk, ("image",), Scope.SELECTION, tuple(scenes[:4])), actor)
    pending = regenerate.apply(regenerate.Request(book.pk, ("image",), Scope.SELECTION, tuple(scenes[4:])), actor)
    run_tick(hub)
    before = leases("image")
    assert len(before) == 4
    cancel_task.apply(cancel_task.Request(pending["tasks"][0]), actor)
    run_tick(hub)
    assert leases("image") == before
    assert states(book) == ["generating"] * 4 + ["dirty"] * 2
    assert Task.objects.get(pk=running["tasks"][0]).status == "active"


def pending(book, actor, hub):
    ask(book, actor)


def deferred(book, actor, hub):
    ask(book, actor)
    hub.answers = [HubDeclined("no_worker_available")]
    run_tick(hub)
    assert image().deferral_reason == "no_worker_available"


def blocked(book, actor, hub):
    ask(book, actor)
    hub.worker_counts["image"] = 0
    run_tick(hub)
    assert Task.objects.get().status == "blocked"


def at_hub(book, actor, hub):
    ask(book, actor)
    run_tick(hub)
    assert Job.objects.get().status == "sent"


def running(book, actor, hub):
    at_hub(book, actor, hub)
    dispatch = Dispatch.objects.get()
    claim(dispatch.dispatch_id, dispatch.jobs.get().job_id)
    hub.running.update(hub.jobs)


def ready(book, actor, hub):
    at_hub(book, actor, hub)
    deliver_all()
    hub.jobs.clear()  # its worker has taken it
    run_tick(hub)


def failed(book, actor, hub):
    ask(book, actor)
    Asset.objects.update(retries_left=0)
    run_tick(hub)
    Asset.objects.filter(stage="image").update(state="failed")
    Task.objects.get().targets.update(status="failed")
    Dispatch.objects.update(status="failed")
    Job.objects.update(status="failed")
    hub.jobs.clear()


ANSWERS = {
    pending: (1, 0, "dirty"),
    deferred: (1, 0, "dirty"),
    blocked: (1, 0, "dirty"),
    at_hub: (0, 1, "dirty"),
    running: (0, 1, "dirty"),
    ready: (0, 0, "ready"),
    failed: (0, 0, "failed"),
}


@pytest.mark.long
@pytest.mark.parametrize("reach", ANSWERS, ids=lambda reach: reach.__name__)
def test_30_a_cancel_in_each_state_gives_the_right_answer(reach, actor, hub):
    book = make_book(scenes=1)
    reach(book, actor, hub)
    queued, generating, after = ANSWERS[reach]
    answer = cancel.apply(cancel.Request(book.pk), actor)
    assert (answer["queued"], answer["generating"]) == (queued, generating)
    hub.worker_counts["image"] = 1
    for _ in range(3):
        run_tick(hub)
    assert (states(book), hub.jobs, leases("image")) == ([after], {}, {})
    assert not Task.objects.filter(status__in=Task.LIVE).exists()
    again = cancel.apply(cancel.Request(book.pk), actor)
    assert (again["queued"], again["generating"]) == (0, 0)
