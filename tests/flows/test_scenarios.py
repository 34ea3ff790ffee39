"""Faults that others suffered; the numbers are those of the table in tests/README.md."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction

from dispatch.hubs.base import HubRejected, HubUnavailable, SubmissionUnknown
from dispatch.models import Dispatch, Job
from dispatch.tick import run_tick
from dispatch.tick.boundaries import Boundary, reached
from generation.commands import cancel, regenerate
from generation.lifecycle import State
from generation.models import Asset, ForceSet, JournalEntry, LayerConfig, Target, Task
from tests.capacity import leases
from tests.doubles.pictures import deliver, deliver_all
from tests.factories.books import images_of, make_book

pytestmark = pytest.mark.django_db(transaction=True)


def ask(book, actor, *stages, **options):
    return regenerate.apply(regenerate.Request(book.pk, stages or ("image",), **options), actor)


def states(book):
    return [asset.state for asset in images_of(book)]


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


def test_10_force_replaces_only_its_own_books_work_once_and_only_for_120_seconds(hub, actor):
    running, forced = make_book(scenes=1), make_book(scenes=1)
    ask(running, actor)
    ask(forced, actor)
    run_tick(hub)
    untouched = Dispatch.objects.get(book=running)
    ask(forced, actor, rebuild_all=True)
    force_set = ForceSet.objects.latest("pk")
    assert abs(force_set.expires_at - force_set.command.created_at - timedelta(seconds=120)) < timedelta(seconds=1)
    run_tick(hub)
    untouched.refresh_from_db()
    assert untouched.status == Dispatch.Status.ACTIVE
    assert list(Dispatch.objects.filter(book=forced).order_by("pk").values_list("status", flat=True)) == [
        "cancelled",
        "active",
    ]
    assert Target.objects.get(asset__book=forced, status=Target.Status.OPEN).force_used_at is not None


def test_10_a_forced_replacement_takes_its_own_slot_before_everybody_else(hub, actor):
    forced, waiting = make_book(scenes=4), make_book(scenes=4)
    ask(forced, actor)
    run_tick(hub)
    ask(waiting, actor)
    ask(forced, actor, rebuild_all=True)
    run_tick(hub)
    assert Dispatch.objects.filter(book=forced, status="active").count() == 4


def test_10_after_120_seconds_a_replacement_waits_its_turn_like_everybody(hub, actor):
    forced, waiting = make_book(scenes=4), make_book(scenes=4)
    ask(forced, actor)
    run_tick(hub)
    ask(waiting, actor)
    ask(forced, actor, rebuild_all=True)
    ForceSet.objects.update(expires_at="2000-01-01T00:00:00Z")
    run_tick(hub)
    assert Dispatch.objects.filter(book=waiting, status="active").count() > 0
    assert not Target.objects.filter(force_used_at__isnull=False).exists()


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


def test_22_an_audio_command_never_starts_pictures_or_videos(hub, actor):
    book = make_book(scenes=2)
    ask(book, actor, "audio")
    run_tick(hub)
    for dispatch in Dispatch.objects.all():
        Dispatch.objects.filter(pk=dispatch.pk).update(status="succeeded")
    Asset.objects.filter(stage="audio").update(state=State.DIRTY)
    Target.objects.update(status=Target.Status.DONE)
    for _ in range(20):
        run_tick(hub)
    assert set(Dispatch.objects.values_list("stage", flat=True)) == {"audio"}
    assert Task.objects.get().status == Task.Status.COMPLETED
    assert set(Asset.objects.exclude(stage="audio").values_list("state", flat=True)) == {State.NEW}


def test_47_a_command_in_a_transaction_that_rolls_back_sends_no_job(hub, actor):
    book = make_book(scenes=1)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        ask(book, actor)
        raise ZeroDivisionError
    assert run_tick(hub).dispatched == 0
    assert hub.submissions == []


def test_47_a_fast_worker_never_sees_a_row_that_is_not_committed(hub, actor):
    make_books = [make_book(scenes=3) for _ in range(2)]
    seen = []

    def look(envelope):
        def from_another_connection():
            job = Job.objects.select_related("dispatch__asset").get(
                dispatch__dispatch_id=envelope.ref.dispatch_id, job_id=envelope.ref.job_id
            )
            seen.append((job.dispatch.status, job.dispatch.asset.state))
            connection.close()

        reader = threading.Thread(target=from_another_connection)
        reader.start()
        reader.join()

    hub.on_submit = look
    for book in make_books:
        ask(book, actor)
    run_tick(hub)
    assert seen == [("active", "generating")] * 4


def test_53_a_hub_that_will_never_take_a_job_costs_nothing_but_the_asset(hub, actor):
    book = make_book(scenes=2)
    ask(book, actor)
    hub.answers = [HubRejected("400 incomplete")]
    run_tick(hub)
    run_tick(hub)
    assert sorted(states(book)) == [State.FAILED, State.GENERATING]
    assert len(leases("image")) == 1
    deliver_all()
    run_tick(hub)
    assert (Task.objects.get().status, Task.objects.get().counts) == ("failed", {"failed": 1, "done": 1})
    assert leases("image") == {}


def test_unknown_submissions_keep_their_ids_and_go_again_after_a_minute(hub, actor):
    book = make_book(scenes=1)
    ask(book, actor)
    hub.answers = [SubmissionUnknown("timed out")]
    run_tick(hub)
    job = Job.objects.get()
    assert (job.status, job.dispatch.status) == (Job.Status.RESERVED, Dispatch.Status.ACTIVE)
    run_tick(hub)
    assert hub.submissions == []
    Job.objects.update(next_send_at="2000-01-01T00:00:00Z")
    run_tick(hub)
    assert [ref.dispatch_id for ref in hub.submissions] == [job.dispatch.dispatch_id]
    assert (Dispatch.objects.count(), images_of(book)[0].retries_left) == (1, 10)


def test_20_a_result_after_a_delete_of_the_whole_book_leaves_the_tick_alive(hub, actor):
    book = make_book(scenes=1)
    ask(book, actor)
    run_tick(hub)
    dispatch = Dispatch.objects.get()
    book.delete()
    assert not deliver(Dispatch.objects.get(pk=dispatch.pk)).accepted
    assert run_tick(hub) is not None
    assert not LayerConfig.objects.exists()
