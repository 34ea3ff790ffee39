"""Results: accepted once, whatever comes twice, late, early, in parallel, or for something that is gone."""

import io
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from PIL import Image

from dispatch.failures import Failure, FailureType
from dispatch.models import Dispatch, Job
from dispatch.results.accept import accept, accept_error, claim
from dispatch.results.finalise import finalise_if_active
from dispatch.results.outcomes import Published, Rejection
from dispatch.tick import run_tick
from generation import store
from generation.commands import cancel, regenerate
from generation.lifecycle import State
from generation.models import Artifact, Asset, Book, JournalEntry, Scene, Target, Task
from tests.capacity import leases
from tests.doubles.pictures import deliver, store_picture, webp
from tests.factories.books import images_of, make_book

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dispatch(hub, actor) -> Dispatch:
    """An active dispatch of the one picture of a book."""
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    run_tick(hub)
    return Dispatch.objects.get()


def again(dispatch, actor, hub) -> Dispatch:
    """Ask again and return the dispatch that replaced the one given."""
    regenerate.apply(regenerate.Request(dispatch.book_pk, ("image",), rebuild_all=True), actor)
    run_tick(hub)
    return Dispatch.objects.get(status=Dispatch.Status.ACTIVE)


def image() -> Asset:
    return Asset.objects.get(stage="image")


def send(dispatch, files, *, job_id=None, build_id=None, dispatch_id=None):
    return accept(
        dispatch.dispatch_id if dispatch_id is None else dispatch_id,
        job_id or Job.objects.get(dispatch=dispatch).job_id,
        str(dispatch.build_id) if build_id is None else build_id,
        files,
    )


def stored_files() -> list[str]:
    return [name for folder in store.storage().listdir("")[0] for name in store.storage().listdir(folder)[1]]


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


def test_a_hub_that_calls_back_inside_the_submit_call_and_again_is_accepted_once(hub, actor):
    book = make_book(scenes=1)
    answers = []

    def call_back(envelope):
        active = Dispatch.objects.get(dispatch_id=envelope.ref.dispatch_id)
        files = store_picture(active)
        answers.extend([send(active, files), send(active, files)])
        connection.close()

    hub.on_submit = call_back
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
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


def flat_png_called_webp() -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((64, 36), 80).save(buffer, "PNG")
    return buffer.getvalue()


def tiny() -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((8, 8), 90).convert("RGB").save(buffer, "WEBP", lossless=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"x" * 99, b"not a picture " * 50, webp()[:-200], flat_png_called_webp(), tiny()],
    ids=["empty", "too short", "no picture", "cut off", "another format", "8 pixels"],
)
def test_a_file_that_is_no_picture_is_bad_output_and_a_bounded_retry(dispatch, content):
    assert deliver(dispatch, content).rejection == Rejection.BAD_OUTPUT
    asset = image()
    assert (asset.state, asset.retries_left, asset.published) == (State.PENDING, 9, None)
    assert asset.deferral_reason == "retry_backoff"
    assert Target.objects.get().status == Target.Status.OPEN
    assert stored_files() == []


def test_a_file_that_was_swapped_in_the_storage_is_bad_output(dispatch):
    files = store_picture(dispatch)
    store.storage().delete(files["main"].name)
    assert send(dispatch, files).rejection == Rejection.BAD_OUTPUT


def test_a_permanent_failure_fails_the_asset_after_one_attempt_and_the_task_with_counts(dispatch, hub):
    failure = Failure(FailureType.PERMANENT, "nothing_to_render", "No words.")
    accept_error(dispatch.dispatch_id, Job.objects.get().job_id, str(dispatch.build_id), failure)
    run_tick(hub)
    asset, task = image(), Task.objects.get()
    assert (asset.state, asset.failure_reason, asset.failure_message) == (
        State.FAILED,
        "nothing_to_render",
        "No words.",
    )
    assert (task.status, task.counts) == (Task.Status.FAILED, {"failed": 1})
    assert leases("image") == {}


def test_transient_failures_back_off_and_end_when_the_retries_are_used(dispatch, hub, actor):
    waits = []
    for _ in range(11):
        active = Dispatch.objects.get(status=Dispatch.Status.ACTIVE)
        failure = Failure(FailureType.TRANSIENT, "render_failed", "Out of paint.")
        accept_error(active.dispatch_id, active.jobs.get().job_id, "", failure)
        asset = image()
        if asset.state == State.FAILED:
            break
        changed = JournalEntry.objects.filter(asset_pk=asset.pk).latest("at").at
        waits.append(round((asset.deferred_until - changed).total_seconds()))
        Asset.objects.update(deferred_until=None)
        run_tick(hub)
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300, 300, 300]
    assert (image().state, image().failure_reason) == (State.FAILED, "retry_budget_exceeded")
    assert Target.objects.get().status == Target.Status.FAILED
    assert Dispatch.objects.count() == 11


def test_a_picture_made_from_an_older_text_is_not_published_and_made_again_from_the_present_one(dispatch, hub):
    Scene.objects.update(text="The sea was calm.", content_version=2)
    assert deliver(dispatch).rejection == Rejection.STALE_DISPATCH
    assert (image().state, image().published, image().retries_left) == (State.DIRTY, None, 10)
    run_tick(hub)
    second = Dispatch.objects.get(status=Dispatch.Status.ACTIVE)
    assert second.content_version == 2
    assert "calm" in second.jobs.get().envelope["scene"]["text"]
    assert deliver(second).rejection is None


def test_three_versions_are_kept(dispatch, hub, actor):
    deliver(dispatch)
    for _ in range(4):
        deliver(again(dispatch, actor, hub))
    assert sorted(Artifact.objects.values_list("version", flat=True)) == [3, 4, 5]
    assert image().published.version == 5


def test_a_stale_ready_picture_is_marked_and_not_made_again_without_a_command(dispatch, hub):
    deliver(dispatch)
    Scene.objects.update(content_version=2, recheck=True)
    for _ in range(3):
        assert run_tick(hub).dispatched == 0
    assert image().state == State.DIRTY
    assert image().published is not None
    assert images_of(Book.objects.get())[0].scene.recheck is False


def test_an_envelope_that_was_changed_after_prepare_is_not_rendered(dispatch):
    Job.objects.update(envelope={"scene": "something else"})
    assert claim(dispatch.dispatch_id, Job.objects.get().job_id) == Rejection.DISPATCH_MISMATCH
    dispatch.refresh_from_db()
    assert dispatch.reason == "intent_corrupt"
