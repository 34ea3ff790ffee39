"""Faults around commands, force and commits; the numbers are those of the table in tests/README.md."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction

from dispatch.hubs.base import HubRejected, SubmissionUnknown
from dispatch.models import Dispatch, Job
from dispatch.tick import run_tick
from generation.lifecycle import State
from generation.models import Asset, ForceSet, LayerConfig, Target, Task
from tests.capacity import leases
from tests.doubles.pictures import deliver, deliver_all
from tests.factories.books import images_of, make_book
from tests.flows.asking import ask, states

pytestmark = pytest.mark.django_db(transaction=True)


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


@pytest.mark.long
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


@pytest.mark.long
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
