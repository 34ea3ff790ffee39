"""Scenarios about what a command asked for and what an asset carries."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from dispatch.failures import failure_from
from dispatch.models import Dispatch, Job
from dispatch.results.accept import accept_error, claim
from dispatch.tick import run_tick
from generation.commands import cancel, regenerate
from generation.models import Asset, JournalEntry, Scene, StageConfig, Target, Task
from generation.stages import STAGES
from tests.doubles.pictures import deliver, deliver_all
from tests.doubles.sounds import deliver_sound
from tests.factories.books import images_of, make_book
from tests.flows.asking import ask, image, states

pytestmark = pytest.mark.django_db(transaction=True)


def make_picture(book, actor, hub):
    ask(book, actor)
    run_tick(hub)
    deliver_all()
    run_tick(hub)


def fail(dispatch, message):
    accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", failure_from("", message))


def active(**where) -> Dispatch:
    return Dispatch.objects.get(status="active", **where)


def pass_time(seconds):
    """Let this long go by for everything that counts from a moment in the record."""
    gone = timedelta(seconds=seconds)
    Job.objects.update(sent_at=F("sent_at") - gone, running_at=F("running_at") - gone)
    Dispatch.objects.update(created_at=F("created_at") - gone, progress_at=F("progress_at") - gone)
    Asset.objects.update(deferred_until=F("deferred_until") - gone, pending_since=F("pending_since") - gone)
    Task.objects.update(created_at=F("created_at") - gone)


@pytest.mark.long
@pytest.mark.parametrize("stage", list(STAGES))
def test_04_a_worker_that_takes_a_job_and_goes_silent_costs_a_retry_within_the_stall_window(stage, actor, hub):
    book = make_book(scenes=1)
    if stage == "video":
        make_picture(book, actor, hub)
    ask(book, actor, stage)
    run_tick(hub)
    dispatch = active()
    claim(dispatch.dispatch_id, dispatch.jobs.get().job_id)
    hub.running.update(hub.jobs)
    pass_time(STAGES[stage].stall_s - 10)
    run_tick(hub)
    assert active() == dispatch
    pass_time(20)
    run_tick(hub)
    dispatch.refresh_from_db()
    asset = Asset.objects.get(stage=stage)
    assert (dispatch.status, dispatch.reason) == ("failed", "stalled")
    assert (asset.state, asset.retries_left) == ("pending", STAGES[stage].retries - 1)


def test_04_silence_without_a_retry_left_ends_as_failed(actor, hub):
    book = make_book(scenes=1)
    ask(book, actor)
    Asset.objects.update(retries_left=0)
    run_tick(hub)
    dispatch = active()
    claim(dispatch.dispatch_id, dispatch.jobs.get().job_id)
    pass_time(STAGES["image"].stall_s + 10)
    run_tick(hub)
    assert (image().state, image().failure_reason) == ("failed", "retry_budget_exceeded")
    run_tick(hub)
    assert Task.objects.get().status == "failed"


@pytest.mark.long
def test_14_an_hour_without_capacity_adds_no_journal_row(actor, hub):
    StageConfig.objects.create(stage="image", quota=1)
    book = make_book(scenes=5)
    ask(book, actor)
    run_tick(hub)
    hub.running.update(hub.jobs)
    before = JournalEntry.objects.count()
    for _ in range(12):  # each stands for five minutes
        run_tick(hub)
        pass_time(149)
    assert JournalEntry.objects.count() == before
    assert states(book) == ["generating", *["pending"] * 4]


@pytest.mark.long
@pytest.mark.usefixtures("no_circuit")
def test_15_a_file_that_is_gone_is_permanent_and_unknown_text_is_a_bounded_retry(actor, hub):
    book = make_book(scenes=2)
    ask(book, actor)
    run_tick(hub)
    fail(active(asset__position=1), "Download failed: 404")
    gone = images_of(book)[0]
    assert (gone.state, gone.failure_reason, gone.retries_left) == ("failed", "artifact_gone", 10)
    failures = 0
    while images_of(book)[1].state != "failed":
        fail(active(asset__position=2), "the brush is too wet")
        failures += 1
        Asset.objects.update(deferred_until=None)
        run_tick(hub)
    assert (failures, images_of(book)[1].failure_reason) == (11, "retry_budget_exceeded")
    assert Task.objects.get().status == "failed"


@pytest.mark.long
def test_16_the_old_picture_stays_served_until_the_new_one_is_ready(actor, hub):
    book = make_book(scenes=1)
    make_picture(book, actor, hub)
    old = image().published
    ask(book, actor, rebuild_all=True)
    for _ in range(3):
        run_tick(hub)
        assert image().published == old
        fail(active(), "no luck")
        assert image().published == old
        Asset.objects.update(deferred_until=None)
    run_tick(hub)
    deliver(active())
    assert image().published.version == 2


@pytest.mark.long
def test_23_a_command_that_runs_for_five_hours_is_authorised_visible_and_can_be_cancelled(actor, hub, admin_client):
    book = make_book(scenes=1)
    ask(book, actor)
    run_tick(hub)
    for _ in range(10):  # five hours, with progress
        pass_time(1750)
        Dispatch.objects.update(progress_at=Now())
        Job.objects.update(running_at=None)
        run_tick(hub)
    assert (states(book), Task.objects.get().status) == (["generating"], "active")
    assert book.title in admin_client.get("/admin/generation/task/?status__exact=active").content.decode()
    assert cancel.apply(cancel.Request(book.pk), actor)["generating"] == 1
    run_tick(hub)
    assert (states(book), hub.jobs, Task.objects.get().status) == (["dirty"], {}, "cancelled")


def test_24_one_target_that_fails_for_good_ends_its_task_as_failed_with_counts(actor, hub):
    book = make_book(scenes=3)
    ask(book, actor)
    run_tick(hub)
    fail(active(asset__position=2), "Download failed: 404")
    run_tick(hub)
    assert Task.objects.get().status == "active"
    deliver_all()
    run_tick(hub)
    task = Task.objects.get()
    assert (task.status, task.counts) == ("failed", {"done": 2, "failed": 1})
    assert task.closed_at is not None


def test_31_every_scene_chosen_is_a_target_or_skipped_because(actor, hub):
    book = make_book(scenes=6)
    make_picture_of_first = regenerate.Request(book.pk, ("image",), regenerate.Scope.SCENE, (book.scenes.first().pk,))
    regenerate.apply(make_picture_of_first, actor)
    run_tick(hub)
    deliver_all()
    Scene.objects.filter(position=2).update(has_words=False)
    ask(book, actor, scope=regenerate.Scope.SCENE, ids=(book.scenes.get(position=3).pk,))
    planned = regenerate.plan(regenerate.Request(book.pk))
    for stage, plan in planned.stages.items():
        chosen = [*plan.targets, *(pk for assets in plan.skipped.values() for pk in assets)]
        assert sorted(chosen) == sorted(book.assets.filter(stage=stage).values_list("pk", flat=True))
    assert planned.answer()["stages"]["image"] == {
        "targets": 3,
        "skipped": {"ready": 1, "nothing_to_render": 1, "already_queued": 1},
    }


def test_35_a_new_command_gives_a_fresh_budget_and_an_automatic_retry_does_not(actor, hub):
    book = make_book(scenes=1)
    ask(book, actor)
    for left in (9, 8):
        run_tick(hub)
        fail(active(), "no luck")
        assert image().retries_left == left
        Asset.objects.update(deferred_until=None)
    ask(book, actor, rebuild_all=True)
    assert (image().retries_left, image().deferred_until) == (10, None)


@pytest.mark.parametrize("content", [b"", b"x" * 99])
def test_41_an_empty_narration_is_a_bounded_retry_and_the_old_one_stays(content, actor, hub):
    book = make_book(scenes=1)
    ask(book, actor, "audio")
    run_tick(hub)
    assert deliver_sound(active()).accepted
    old = Asset.objects.get(stage="audio").published
    ask(book, actor, "audio", rebuild_all=True)
    run_tick(hub)
    assert deliver_sound(active(), content).rejection == "bad_output"
    asset = Asset.objects.get(stage="audio")
    assert (asset.published, asset.state, asset.retries_left) == (old, "pending", 9)
    assert asset.deferral_reason == "retry_backoff"


def test_42_a_scene_with_nothing_to_draw_ends_after_one_attempt_and_the_others_go_on(actor, hub):
    book = make_book(scenes=3)
    ask(book, actor)
    Scene.objects.filter(position=2).update(has_words=False)
    run_tick(hub)
    assert states(book) == ["generating", "failed", "generating"]
    fail(active(asset__position=3), "nothing to draw in this text")
    deliver_all()
    run_tick(hub)
    assert [asset.failure_reason for asset in images_of(book)] == ["", "nothing_to_render", "nothing_to_render"]
    task = Task.objects.get()
    assert (task.status, task.counts, len(hub.submissions)) == ("failed", {"done": 1, "failed": 2}, 2)


@pytest.mark.long
@pytest.mark.usefixtures("no_circuit")
def test_52_fifty_failures_of_one_book_do_not_refuse_the_first_video_of_another(actor, hub):
    failing, other = make_book(scenes=5), make_book(scenes=1)
    make_picture(other, actor, hub)
    ask(failing, actor, "audio")
    failures = 0
    while failures < 50:
        Asset.objects.update(deferred_until=None)
        run_tick(hub)
        for dispatch in Dispatch.objects.filter(status="active"):
            fail(dispatch, "no voice today")
            failures += 1
    ask(other, actor, "video")
    run_tick(hub)
    assert active(stage="video").asset.retries_left == 5
    assert Target.objects.get(asset__stage="video").status == "open"
