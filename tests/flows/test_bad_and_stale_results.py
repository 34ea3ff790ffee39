"""Results that are no pictures, errors, and pictures of a text that has changed."""

import io

import pytest
from PIL import Image

from dispatch.failures import Failure
from dispatch.models import Dispatch, Job
from dispatch.results.accept import accept_error, claim
from dispatch.results.finalise import finalise_if_active
from dispatch.results.outcomes import Published, Rejection
from dispatch.tick import run_tick
from generation import store
from generation.lifecycle import State
from generation.models import Artifact, Asset, Book, JournalEntry, Scene, Target, Task
from tests.capacity import leases
from tests.doubles.pictures import deliver, store_picture, webp
from tests.factories.books import images_of
from tests.flows.asking import again, ask, image, send, stored_files

pytestmark = pytest.mark.django_db(transaction=True)


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
    failure = Failure("nothing_to_render", "No words.")
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


@pytest.mark.long
@pytest.mark.usefixtures("no_circuit")
def test_transient_failures_back_off_and_end_when_the_retries_are_used(dispatch, hub, actor):
    waits = []
    for _ in range(11):
        active = Dispatch.objects.get(status=Dispatch.Status.ACTIVE)
        failure = Failure("render_failed", "Out of paint.")
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


@pytest.mark.long
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


@pytest.mark.long
def test_a_video_whose_picture_was_replaced_while_it_was_in_flight_is_marked_out_of_date(dispatch, hub, actor):
    book = dispatch.book
    deliver(dispatch)
    ask(book, actor, "video")
    run_tick(hub)
    video = Dispatch.objects.get(stage="video", status=Dispatch.Status.ACTIVE)
    deliver(again(dispatch, actor, hub, stage="image"))
    run_tick(hub)  # compares the scene while the video is still being made
    assert not Scene.objects.filter(recheck=True).exists()
    assert finalise_if_active(video.dispatch_id, Published(store_picture(video)))
    assert Asset.objects.get(stage="video").state == State.READY
    run_tick(hub)
    assert Asset.objects.get(stage="video").state == State.DIRTY
    assert run_tick(hub).dispatched == 0
