"""Faults that others suffered; the numbers are those of the table in tests/README.md."""

import pytest
from django.db import connection

from dispatch.hubs.base import HubUnavailable, SubmissionUnknown
from dispatch.models import Dispatch, Job
from dispatch.tick import run_tick
from dispatch.tick.boundaries import Boundary, reached
from generation.commands import cancel
from generation.lifecycle import State
from generation.models import Asset, JournalEntry, Target
from tests.capacity import leases
from tests.doubles.pictures import deliver_all
from tests.factories.books import images_of, make_book
from tests.flows.asking import ask, states

pytestmark = pytest.mark.django_db(transaction=True)


def test_01_when_the_hub_takes_no_job_everything_is_given_back_by_way_of_dirty(hub, actor):
    book = make_book(scenes=1)
    ask(book, actor)
    hub.answers = [HubUnavailable("no route")]
    report = run_tick(hub)
    asset = images_of(book)[0]
    assert (asset.state, asset.retries_left, asset.deferred_until) == (State.PENDING, 10, None)
    assert leases("image") == {}
    assert Dispatch.objects.get().status == Dispatch.Status.CANCELLED
    assert Job.objects.get().status == Job.Status.DROPPED
    assert JournalEntry.objects.get(event="finalised").change == "generating → dirty → pending"
    assert [error["reason"] for error in report.errors] == ["hub_unavailable"]
    run_tick(hub)
    assert states(book) == [State.GENERATING]


@pytest.mark.long
@pytest.mark.usefixtures("no_circuit")
def test_01_the_same_refusal_twice_running_defers_and_ten_times_fails(hub, actor):
    book = make_book(scenes=1)
    ask(book, actor)
    for number in range(1, 11):
        hub.answers = [HubUnavailable("no route")]
        run_tick(hub)
        asset = images_of(book)[0]
        if number < 10:
            assert (asset.state, bool(asset.deferred_until)) == (State.PENDING, number > 1)
        Asset.objects.update(deferred_until=None)
    assert (asset.state, asset.failure_reason, asset.retries_left) == (State.FAILED, "hub_unavailable", 10)


def test_01_a_failed_roll_back_is_an_error_event(hub, actor):
    book = make_book(scenes=1)
    ask(book, actor)

    def refuse(envelope):
        Asset.objects.filter(stage="image").update(state=State.FAILED)
        connection.close()
        raise HubUnavailable("no route")

    hub.on_submit = refuse
    run_tick(hub)
    assert JournalEntry.objects.get(event="transition_refused").change == "failed ↛ pending"
    assert leases("image") == {}


def test_02_the_second_dispatch_sends_all_units_and_the_clean_up_of_the_first_leaves_them_alone(hub, actor):
    book = make_book(scenes=1)
    ask(book, actor)
    hub.answers = [SubmissionUnknown("timed out")]
    run_tick(hub)
    first = Dispatch.objects.get()
    ask(book, actor, rebuild_all=True)
    hub.down = True
    run_tick(hub)  # ends the first; the hub cannot be told yet
    hub.down = False
    run_tick(hub)
    second = Dispatch.objects.exclude(pk=first.pk).get(status=Dispatch.Status.ACTIVE)
    assert second.jobs.get().status == Job.Status.SENT
    assert first.jobs.get().status == Job.Status.DROPPED
    assert [ref.dispatch_id for ref in hub.jobs] == [second.dispatch_id]


def test_03_generating_without_a_dispatch_is_repaired(hub, actor):
    book = make_book(scenes=2)
    ask(book, actor)
    wanted, unwanted = images_of(book)
    Target.objects.filter(asset=unwanted).update(status=Target.Status.CANCELLED)
    Asset.objects.filter(stage="image").update(state=State.GENERATING)
    hub.worker_counts["image"] = 0
    run_tick(hub)
    assert states(book) == [State.PENDING, State.DIRTY]
    assert JournalEntry.objects.filter(event="repaired").count() == 2


def test_03_generating_with_a_live_dispatch_is_left_alone_whatever_its_age(hub, actor):
    book = make_book(scenes=1)
    ask(book, actor)
    run_tick(hub)
    Dispatch.objects.update(created_at="2000-01-01T00:00:00Z")
    Job.objects.update(sent_at="2000-01-01T00:00:00Z")
    for _ in range(3):
        run_tick(hub)
    assert states(book) == [State.GENERATING]
    assert Dispatch.objects.count() == 1


def test_05_a_ghost_is_gone_after_a_stop_all_and_stays_gone(hub, actor, empty_redis):
    book = make_book(scenes=1)
    Asset.objects.filter(stage="image").update(state=State.GENERATING)
    cancel.apply(cancel.Request(book.pk), actor)
    for _ in range(3):
        empty_redis.flushdb()
        run_tick(hub)
        assert states(book) == [State.DIRTY]


@pytest.mark.long
def test_06_a_cancelled_book_with_a_missing_file_is_not_dispatched(hub, actor):
    book = make_book(scenes=1)
    ask(book, actor)
    run_tick(hub)
    deliver_all()
    cancel.apply(cancel.Request(book.pk), actor)
    Asset.objects.filter(stage="image").update(state=State.DIRTY)
    for _ in range(5):
        assert run_tick(hub).dispatched == 0
    ask(book, actor)
    assert run_tick(hub).dispatched == 1


def test_12_an_asset_that_may_not_go_to_generating_sends_no_job(hub, actor):
    book = make_book(scenes=1)
    ask(book, actor)

    def spoil(boundary, **_):
        if boundary == Boundary.ADMITTED:
            Asset.objects.filter(stage="image").update(state=State.FAILED)

    reached.connect(spoil)
    report = run_tick(hub)
    reached.disconnect(spoil)
    assert (report.dispatched, hub.submissions) == (0, [])
    assert [error["reason"] for error in report.errors] == ["transition_refused"]
    assert JournalEntry.objects.get(event="transition_refused").change == "failed ↛ generating"
    assert not Dispatch.objects.exists()
    assert leases("image") == {}
