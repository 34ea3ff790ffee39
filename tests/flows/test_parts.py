"""Parts of a narration: any order, repeats, and what is kept from one dispatch to the next."""

import random
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from dispatch.models import Dispatch, Job, Part
from dispatch.results.accept import accept
from dispatch.results.assemble import Ending, assemble
from dispatch.tick import run_tick
from generation.commands import cancel, edit
from generation.cues import from_vtt
from generation.models import JournalEntry, Scene
from tests.capacity import leases
from tests.doubles.parts import PART_S, SENTENCE, deliver_part, heard, long_book, store_part
from tests.flows.asking import ask, stored_files
from tests.flows.narration import PARTS, audio, book, deliver_all_parts, dispatch, published, queued, units  # noqa: F401 - fixtures
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_long_scene_is_sent_in_numbered_parts_of_its_text(dispatch, book):
    assert units(dispatch) == ["0001", "0002", "0003", "0004", "0005"]
    bodies = [job.envelope["part"] for job in dispatch.jobs.order_by("order")]
    assert " ".join(body["text"] for body in bodies) == Scene.objects.get().text
    assert {(body["of"]) for body in bodies} == {PARTS}
    assert len({fingerprint for _, fingerprint in dispatch.units}) == PARTS
    assert audio().parts_total == PARTS


@pytest.mark.parametrize("seed", sampled(range(4), keep=1))
def test_39_parts_in_any_order_are_one_narration_in_numeric_order(seed, actor, hub):
    book = long_book(12)
    ask(book, actor, "audio")
    run_tick(hub)
    dispatch = Dispatch.objects.get()
    order = units(dispatch)
    random.Random(seed).shuffle(order)  # noqa: S311 - chooses an order, guards nothing
    for unit in order:
        assert audio().state == "generating"
        assert deliver_part(dispatch, unit).rejection is None
    assert Part.objects.count() == 12
    assert queued() == [f"assemble-{dispatch.dispatch_id}".encode()]
    assert assemble(dispatch.dispatch_id) == Ending.PUBLISHED
    run_tick(hub)
    assert (audio().state, audio().published.version) == ("ready", 1)
    content = published()
    assert heard(content["main"], 12) == list(range(1, 13))
    cues = from_vtt(content["subtitles"])
    assert [cue.text for cue in cues] == [f"Part {number}." for number in range(1, 13)]
    assert [cue.start for cue in cues] == pytest.approx([number * PART_S + 0.1 for number in range(12)], abs=0.01)
    assert JournalEntry.objects.filter(event="finalised").count() == 1
    assert (leases("audio"), Part.objects.count(), len(stored_files())) == ({}, 0, 2)


@pytest.mark.long
def test_the_progress_counts_parts_and_the_old_narration_is_served_until_the_new_one_is_joined(
    book, dispatch, actor, hub
):
    deliver_all_parts(dispatch)
    assemble(dispatch.dispatch_id)
    old = audio().published
    run_tick(hub)
    ask(book, actor, "audio", rebuild_all=True)
    run_tick(hub)
    second = Dispatch.objects.get(status="active")
    assert units(second) == units(dispatch)  # what was published is made again, not taken from parts
    for number, unit in enumerate(units(second), start=1):
        deliver_part(second, unit)
        assert (audio().parts_done, audio().parts_total) == (number, PARTS)
        assert audio().progress_percent == min(99, 100 * number // PARTS)
        assert audio().published == old
    assemble(second.dispatch_id)
    assert (audio().state, audio().published.version, audio().progress_percent) == ("ready", 2, 0)


def test_the_same_part_twice_is_kept_once_and_its_second_file_removed(dispatch):
    first, second = deliver_part(dispatch, "0001"), deliver_part(dispatch, "0001")
    assert (first.rejection, second.rejection) == (None, "already_finalized")
    assert second.accepted
    assert (Part.objects.count(), len(stored_files())) == (1, 2)


def test_a_repeat_of_the_very_same_part_changes_nothing(dispatch):
    job = dispatch.jobs.get(unit="0001")
    files = store_part(dispatch, job)
    sent = (dispatch.dispatch_id, job.job_id, str(dispatch.build_id), files)
    answers = [accept(*sent) for _ in range(3)]
    assert [answer.rejection for answer in answers] == [None, "already_finalized", "already_finalized"]
    assert all(answer.accepted for answer in answers)
    assert (Part.objects.count(), len(stored_files())) == (1, 2)


def test_a_repeat_after_the_dispatch_ended_leaves_the_part_that_is_kept(dispatch, actor, hub):
    job = dispatch.jobs.get(unit="0001")
    files = store_part(dispatch, job)
    sent = (dispatch.dispatch_id, job.job_id, str(dispatch.build_id), files)
    assert accept(*sent).rejection is None
    cancel.apply(cancel.Request(dispatch.book_pk), actor)
    run_tick(hub)
    assert accept(*sent).rejection == "stale_dispatch"
    assert (Part.objects.count(), len(stored_files())) == (1, 2)


@pytest.mark.long
def test_a_new_dispatch_asks_only_for_the_parts_that_are_missing(dispatch, actor, hub):
    for unit in ("0001", "0002", "0004"):
        deliver_part(dispatch, unit)
    cancel.apply(cancel.Request(dispatch.book_pk), actor)
    run_tick(hub)
    ask(dispatch.book, actor, "audio")
    run_tick(hub)
    second = Dispatch.objects.get(status="active")
    assert units(second) == ["0003", "0005"]
    assert (audio().parts_done, audio().progress_percent) == (3, 60)
    deliver_all_parts(second)
    assert assemble(second.dispatch_id) == Ending.PUBLISHED
    assert heard(published()["main"], PARTS) == [1, 2, 3, 4, 5]


@pytest.mark.long
def test_a_part_whose_text_or_voice_changed_is_made_again_and_only_that(dispatch, book, actor, hub):
    for unit in ("0001", "0002"):
        deliver_part(dispatch, unit)
    cancel.apply(cancel.Request(book.pk), actor)
    run_tick(hub)
    scene = Scene.objects.get()
    edit.apply_text(edit.TextRequest(scene.pk, scene.text.replace("word", "Word", 1)), actor)
    ask(book, actor, "audio")
    run_tick(hub)
    assert units(Dispatch.objects.get(status="active")) == ["0001", "0003", "0004", "0005"]


@pytest.mark.long
def test_40_slow_steady_parts_never_fail_and_silence_for_the_window_does(actor, hub):
    ask(long_book(12), actor, "audio")
    run_tick(hub)
    dispatch = Dispatch.objects.get()
    hub.running.update(hub.jobs)
    run_tick(hub)
    for unit in units(dispatch)[:-1]:
        age(dispatch, minutes=29)
        run_tick(hub)
        assert deliver_part(dispatch, unit).rejection is None
    assert audio().state == "generating"
    age(dispatch, minutes=31)
    run_tick(hub)
    dispatch.refresh_from_db()
    assert (dispatch.status, dispatch.reason) == ("failed", "stalled")
    assert Part.objects.count() == 11


def test_parts_that_wait_for_a_worker_do_not_stall_their_dispatch(dispatch, hub):
    deliver_part(dispatch, "0001")
    Dispatch.objects.update(progress_at=Now() - timedelta(hours=5))
    run_tick(hub)
    dispatch.refresh_from_db()
    assert dispatch.status == "active"


def age(dispatch, minutes) -> None:
    """Let time pass since its last progress; no job of it runs longer than its own timeout allows."""
    Dispatch.objects.filter(pk=dispatch.pk).update(progress_at=F("progress_at") - timedelta(minutes=minutes))
    Job.objects.filter(dispatch=dispatch, status="sent").update(
        running_at=Now() - min(timedelta(minutes=minutes), timedelta(minutes=30, seconds=30))
    )


def test_a_dispatch_that_nothing_would_end_is_ended_by_the_tick(dispatch, hub):
    Job.objects.update(status="done")
    run_tick(hub)
    dispatch.refresh_from_db()
    assert (dispatch.status, dispatch.reason, leases("audio")) == ("failed", "part_lost", {})


@pytest.mark.long
def test_a_text_that_grows_at_its_end_keeps_its_first_parts(dispatch, book, actor, hub):
    for unit in ("0001", "0002"):
        deliver_part(dispatch, unit)
    cancel.apply(cancel.Request(book.pk), actor)
    run_tick(hub)
    scene = Scene.objects.get()
    edit.apply_text(edit.TextRequest(scene.pk, f"{scene.text} {SENTENCE * 4}"), actor)
    ask(book, actor, "audio")
    run_tick(hub)
    assert units(Dispatch.objects.get(status="active")) == ["0003", "0004", "0005", "0006"]
