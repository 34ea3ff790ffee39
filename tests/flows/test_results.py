"""Results: accepted once, whatever comes twice, late, early, in parallel, or for something that is gone."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from dispatch.models import Dispatch, Job
from dispatch.results.accept import accept
from dispatch.results.finalise import finalise_if_active
from dispatch.results.outcomes import Published, Rejection
from dispatch.tick import run_tick
from generation import store
from generation.commands import cancel
from generation.lifecycle import State
from generation.models import Artifact, Book, JournalEntry, Target, Task
from tests.capacity import leases
from tests.doubles.pictures import deliver, store_picture
from tests.factories.books import make_book
from tests.flows.asking import again, ask, image, send, stored_files

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_result_publishes_the_picture_frees_the_lease_and_closes_the_target(dispatch):
    assert deliver(dispatch).rejection is None
    asset = image()
    assert asset.state == State.READY
    assert asset.published.dispatch_id == dispatch.dispatch_id
    assert asset.published.files.get().width == 64
    assert (Target.objects.get().status, Job.objects.get().status) == (Target.Status.DONE, Job.Status.DONE)
    assert leases("image") == {}
    assert JournalEntry.objects.get(event="finalised").change == "generating → ready"


def test_the_same_success_ten_times_in_series_counts_once(dispatch):
    files = store_picture(dispatch)
    answers = [send(dispatch, files) for _ in range(10)]
    assert [answer.rejection for answer in answers] == [None] + [Rejection.ALREADY_FINALIZED] * 9
    assert all(answer.accepted for answer in answers)
    assert Artifact.objects.count() == 1
    assert JournalEntry.objects.filter(event="finalised").count() == 1
    assert len(stored_files()) == 1


def test_the_same_success_ten_times_in_parallel_counts_once(dispatch):
    barrier = threading.Barrier(10)

    def one(files):
        barrier.wait()
        try:
            return send(dispatch, files)
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(one, [store_picture(dispatch) for _ in range(10)]))
    assert all(answer.accepted for answer in answers)
    assert [answer.rejection for answer in answers].count(None) == 1
    assert Artifact.objects.count() == 1
    assert JournalEntry.objects.filter(event="finalised").count() == 1
    assert stored_files() == [image().published.files.get().name.split("/")[1]]


@pytest.mark.long
def test_a_hub_that_calls_back_inside_the_submit_call_and_again_is_accepted_once(hub, actor):
    book = make_book(scenes=1)
    answers = []

    def call_back(envelope):
        active = Dispatch.objects.get(dispatch_id=envelope.ref.dispatch_id)
        files = store_picture(active)
        answers.extend([send(active, files), send(active, files)])
        connection.close()

    hub.on_submit = call_back
    ask(book, actor)
    run_tick(hub)
    assert [answer.rejection for answer in answers] == [None, Rejection.ALREADY_FINALIZED]
    assert image().state == State.READY
    assert Job.objects.get().status == Job.Status.DONE
    run_tick(hub)
    assert Task.objects.get().status == Task.Status.COMPLETED


def test_a_late_result_of_an_earlier_dispatch_changes_nothing_of_the_live_one(dispatch, actor, hub):
    second = again(dispatch, actor, hub)
    answer = deliver(dispatch)
    assert (answer.rejection, answer.accepted) == (Rejection.STALE_DISPATCH, False)
    second.refresh_from_db()
    assert second.status == Dispatch.Status.ACTIVE
    assert image().state == State.GENERATING
    assert leases("image") == {second.asset_pk: second.dispatch_id}
    assert stored_files() == []
    assert deliver(second).rejection is None


def test_the_old_picture_is_served_until_the_new_one_is_ready(dispatch, actor, hub):
    deliver(dispatch)
    first = image().published
    second = again(dispatch, actor, hub)
    assert image().published == first
    assert store.storage().exists(first.files.get().name)
    deliver(second)
    assert image().published.version == 2


def test_a_result_that_is_published_while_its_dispatch_is_replaced_never_becomes_the_published_one(
    dispatch, actor, hub
):
    files = store_picture(dispatch)
    second = again(dispatch, actor, hub)
    assert not finalise_if_active(dispatch.dispatch_id, Published(files))
    deliver(second)
    assert finalise_if_active(dispatch.dispatch_id, Published(files)) is False
    assert image().published.dispatch_id == second.dispatch_id


def test_a_result_that_arrives_after_the_cancel_but_before_the_next_tick_is_not_published(dispatch, actor):
    cancel.apply(cancel.Request(dispatch.book_pk), actor)
    assert deliver(dispatch).rejection == Rejection.STALE_DISPATCH
    assert image().state == State.DIRTY
    assert image().published is None
    dispatch.refresh_from_db()
    assert dispatch.status == Dispatch.Status.CANCELLED
    assert stored_files() == []


@pytest.mark.parametrize(
    ("changes", "rejection"),
    [
        ({"dispatch_id": ""}, Rejection.MISSING_DISPATCH_ID),
        ({"dispatch_id": "f" * 32}, Rejection.NO_ACTIVE_DISPATCH),
        ({"job_id": "b1_c1_s1_iu-9:iu_image"}, Rejection.DISPATCH_MISMATCH),
        ({"build_id": "00000000-0000-0000-0000-000000000000"}, Rejection.DISPATCH_MISMATCH),
    ],
)
def test_a_result_of_something_we_do_not_know_is_rejected_and_leaves_no_file(dispatch, changes, rejection):
    assert send(dispatch, store_picture(dispatch), **changes).rejection == rejection
    dispatch.refresh_from_db()
    assert dispatch.status == Dispatch.Status.ACTIVE
    assert stored_files() == []


def test_a_result_for_a_deleted_book_is_rejected_without_a_file(dispatch, hub):
    job_id, files = Job.objects.get().job_id, store_picture(dispatch)
    Book.objects.all().delete()
    assert accept(dispatch.dispatch_id, job_id, str(dispatch.build_id), files).rejection == Rejection.STALE_DISPATCH
    assert stored_files() == []
    run_tick(hub)
    assert hub.jobs == {}
    assert leases("image") == {}


def test_a_book_with_published_pictures_can_be_deleted(dispatch):
    deliver(dispatch)
    Book.objects.all().delete()
    assert not Artifact.objects.exists()


def test_a_deleted_book_is_cleared_at_the_hub(dispatch, hub):
    Book.objects.all().delete()
    run_tick(hub)
    dispatch.refresh_from_db()
    assert (dispatch.status, hub.jobs, leases("image")) == (Dispatch.Status.CANCELLED, {}, {})


def test_a_result_after_redis_was_emptied_still_counts(dispatch, empty_redis):
    empty_redis.flushdb()
    assert deliver(dispatch).rejection is None
    assert image().state == State.READY
