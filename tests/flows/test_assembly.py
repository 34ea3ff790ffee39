"""Narrations in several parts: any order, any loss, joined and published once."""

import random
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Thread

import django_rq
import pytest
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from dispatch import worker
from dispatch.failures import Failure
from dispatch.hubs.rq import keys
from dispatch.models import Dispatch, Job, Part, TickLease
from dispatch.results import assemble as assembling
from dispatch.results.accept import accept, accept_error
from dispatch.results.assemble import Ending, assemble
from dispatch.retention import prune
from dispatch.tick import run_tick
from generation import store
from generation.commands import cancel, delete, edit
from generation.cues import from_vtt
from generation.models import ArtifactFile, Asset, JournalEntry, Scene, Target
from tests.capacity import leases
from tests.doubles.parts import PART_S, SENTENCE, deliver_part, heard, long_book, store_part
from tests.doubles.pictures import store_picture, webp
from tests.factories.books import make_book
from tests.flows.asking import ask, stored_files
from tests.processes import running
from tests.sampling import sampled
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

PARTS = 5


@pytest.fixture
def book():
    return long_book(PARTS)


@pytest.fixture
def dispatch(book, actor, hub) -> Dispatch:
    ask(book, actor, "audio")
    run_tick(hub)
    return Dispatch.objects.get()


def audio() -> Asset:
    return Asset.objects.get(stage="audio")


def units(dispatch) -> list[str]:
    return list(dispatch.jobs.order_by("order").values_list("unit", flat=True))


def deliver_all_parts(dispatch) -> None:
    for unit in units(dispatch):
        assert deliver_part(dispatch, unit).rejection is None


def queued() -> list[bytes]:
    return django_rq.get_connection("assembly").lrange(keys.queue(keys.ASSEMBLY), 0, -1)


def published() -> dict[str, bytes]:
    files = ArtifactFile.objects.filter(artifact=audio().published)
    return {file.role: store.open_file(file.name).read() for file in files}


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


def test_the_last_two_parts_at_the_same_moment_make_it_assembling_once(dispatch, hub):
    *first, last, other = units(dispatch)
    for unit in first:
        deliver_part(dispatch, unit)
    barrier, answers = Barrier(2), []

    def deliver(unit):
        barrier.wait()
        answers.append(deliver_part(dispatch, unit).rejection)
        connection.close()

    threads = [Thread(target=deliver, args=(unit,)) for unit in (last, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [None, None]
    assert len(queued()) == 1
    assert Part.objects.count() == PARTS


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


def test_when_all_parts_are_there_nothing_is_sent_and_joining_begins_at_once(dispatch, book, actor, hub):
    deliver_all_parts(dispatch)
    cancel.apply(cancel.Request(book.pk), actor)
    run_tick(hub)
    ask(book, actor, "audio")
    sent = len(hub.submissions)
    run_tick(hub)
    second = Dispatch.objects.get(status="active")
    assert (second.jobs.count(), len(hub.submissions)) == (0, sent)
    assert leases("audio") == {second.asset_pk: second.dispatch_id}
    run_tick(hub)
    assert f"assemble-{second.dispatch_id}".encode() in queued()
    assert assemble(second.dispatch_id) == Ending.PUBLISHED


def lost_file(part):
    store.storage().delete(part.files["main"]["name"])


def damaged_file(part):
    name = part.files["main"]["name"]
    store.storage().delete(name)
    store.storage().save(name, store.ContentFile(b"rust" * 1000))


@pytest.mark.parametrize("harm", [lost_file, damaged_file])
def test_a_lost_part_is_asked_for_alone(harm, dispatch, hub):
    deliver_all_parts(dispatch)
    harm(Part.objects.get(unit="0003"))
    assert assemble(dispatch.dispatch_id) == Ending.PARTS_LOST
    assert (audio().state, audio().retries_left) == ("pending", 9)
    Asset.objects.update(deferred_until=None)
    run_tick(hub)
    second = Dispatch.objects.get(status="active")
    assert units(second) == ["0003"]
    deliver_all_parts(second)
    assert assemble(second.dispatch_id) == Ending.PUBLISHED
    assert heard(published()["main"], PARTS) == [1, 2, 3, 4, 5]


def test_a_part_lost_before_its_dispatch_is_noticed_when_the_next_is_prepared(dispatch, book, actor, hub):
    deliver_all_parts(dispatch)
    cancel.apply(cancel.Request(book.pk), actor)
    run_tick(hub)
    lost_file(Part.objects.get(unit="0002"))
    ask(book, actor, "audio")
    run_tick(hub)
    assert units(Dispatch.objects.get(status="active")) == ["0002"]


@pytest.mark.parametrize("content", [b"", b"x" * 99, b"x" * 5000])
def test_a_bad_part_is_bad_output_and_the_good_ones_stay(content, dispatch, hub):
    deliver_part(dispatch, "0001")
    assert deliver_part(dispatch, "0002", content).rejection == "bad_output"
    assert (audio().state, audio().deferral_reason, Part.objects.count()) == ("pending", "retry_backoff", 1)
    assert len(stored_files()) == 2


@pytest.mark.parametrize("moment", ["before the last part", "while assembling"])
def test_a_stop_ends_it_and_nothing_is_published(moment, dispatch, actor, hub):
    wanted = units(dispatch)
    for unit in wanted[:-1]:
        deliver_part(dispatch, unit)
    if moment == "while assembling":
        deliver_part(dispatch, wanted[-1])
    cancel.apply(cancel.Request(dispatch.book_pk), actor)
    if moment == "before the last part":
        assert deliver_part(dispatch, wanted[-1]).rejection == "stale_dispatch"
    assert assemble(dispatch.dispatch_id) == Ending.NOT_WANTED
    run_tick(hub)
    assert (audio().state, audio().published, leases("audio")) == ("dirty", None, {})
    assert not Dispatch.objects.filter(status="active").exists()
    for _ in range(3):
        run_tick(hub)
    assert Dispatch.objects.count() == 1


def test_a_delete_while_it_is_joined_leaves_no_file_of_it(dispatch, actor, hub):
    deliver_all_parts(dispatch)
    delete.apply(delete.Request(delete.What.BOOK, (dispatch.book_pk,)), actor)
    assert assemble(dispatch.dispatch_id) == Ending.NOT_WANTED
    TickLease.objects.update(pruned_at=None)
    run_tick(hub)
    assert (stored_files(), leases("audio"), Part.objects.count()) == ([], {}, 0)


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


class Killed(BaseException):
    """The process is gone: nothing catches it."""


STEPS = {
    "before it reads": ("parts.of_dispatch", "before"),
    "before it joins": ("registry.assemble", "before"),
    "after it joined": ("registry.assemble", "after"),
    "between two files": ("store.save", "after"),
    "before it validates": ("store.validate", "before"),
    "before it publishes": ("finalise_if_active", "before"),
    "after it published": ("finalise_if_active", "after"),
    "after it rang": ("ring", "after"),
}


def dying(step):
    """Return (name, function that dies there the first time)."""
    name, when = STEPS[step]
    target = assembling
    for piece in name.split(".")[:-1]:
        target = getattr(target, piece)
    original = getattr(target, name.split(".")[-1])

    def deadly(*args, **options):
        if when == "before":
            raise Killed
        original(*args, **options)
        raise Killed

    return target, name.split(".")[-1], deadly


@pytest.mark.parametrize("step", sampled(STEPS, keep=2))
def test_an_assembly_killed_at_any_step_ends_in_one_artifact_and_loses_nothing(step, dispatch, hub, monkeypatch):
    deliver_all_parts(dispatch)
    with monkeypatch.context() as patch:
        patch.setattr(*dying(step))
        with pytest.raises(Killed):
            assemble(dispatch.dispatch_id)
    run_tick(hub)
    assemble(dispatch.dispatch_id)
    run_tick(hub)
    assert (audio().state, audio().published.version, audio().artifacts.count()) == ("ready", 1, 1)
    assert heard(published()["main"], PARTS) == [1, 2, 3, 4, 5]
    assert (audio().retries_left, leases("audio"), Target.objects.get().status) == (10, {}, "done")


def test_assemblies_in_parallel_publish_one_artifact_and_leave_its_files_only(dispatch):
    deliver_all_parts(dispatch)
    barrier, endings = Barrier(4), []

    def join():
        barrier.wait()
        endings.append(assemble(dispatch.dispatch_id))
        connection.close()

    threads = [Thread(target=join) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert endings.count(Ending.PUBLISHED) == 1
    assert (audio().artifacts.count(), len(stored_files())) == (1, 2)


def test_a_request_that_redis_lost_is_made_again_by_the_tick(dispatch, hub, empty_redis):
    deliver_all_parts(dispatch)
    empty_redis.flushdb()
    run_tick(hub)
    assert queued() == [f"assemble-{dispatch.dispatch_id}".encode()]
    run_tick(hub)
    assert len(queued()) == 1


@pytest.mark.long
def test_a_real_assembly_worker_that_is_killed_is_replaced_and_the_narration_comes(dispatch, hub, empty_redis):
    deliver_all_parts(dispatch)
    assembly = ["manage.py", "rqworker", "assembly"]
    with running(assembly) as worker:
        wait_until(lambda: queued() == [])
        worker.kill()
    if audio().state != "ready":
        # What RQ does a minute later: the beat of the killed worker's job has ended.
        empty_redis.delete(keys.started(keys.ASSEMBLY), keys.intermediate(keys.ASSEMBLY))
    with running(assembly):

        def ready() -> bool:
            run_tick(hub)
            return audio().state == "ready"

        wait_until(ready)
    assert (audio().artifacts.count(), len(stored_files())) == (1, 2)
    assert heard(published()["main"], PARTS) == [1, 2, 3, 4, 5]


def test_waiting_for_an_assembly_worker_costs_nothing_however_long(dispatch, hub):
    deliver_all_parts(dispatch)
    Dispatch.objects.update(assembling_at=Now() - timedelta(days=2), progress_at=Now() - timedelta(days=2))
    for _ in range(3):
        run_tick(hub)
    dispatch.refresh_from_db()
    assert (dispatch.status, audio().retries_left, len(queued())) == ("active", 10, 1)


def test_a_joining_that_kills_its_worker_again_and_again_ends_with_a_reason(dispatch, hub, monkeypatch, empty_redis):
    deliver_all_parts(dispatch)
    monkeypatch.setattr(*dying("before it joins"))
    for attempt in range(5):
        with pytest.raises(Killed):
            assemble(dispatch.dispatch_id)
        run_tick(hub)
        dispatch.refresh_from_db()
        assert dispatch.status == "active", attempt
    empty_redis.flushdb()
    run_tick(hub)
    dispatch.refresh_from_db()
    assert (dispatch.status, dispatch.reason, audio().retries_left) == ("failed", "worker_killed", 9)
    assert Part.objects.count() == PARTS


def late_error(dispatch, unit):
    job = dispatch.jobs.get(unit=unit)
    return accept_error(dispatch.dispatch_id, job.job_id, str(dispatch.build_id), Failure("worker_killed"))


@pytest.mark.parametrize("moment", ["others run", "assembling"])
def test_an_error_of_a_job_whose_part_counted_changes_nothing(moment, dispatch):
    deliver_part(dispatch, "0001")
    if moment == "assembling":
        for unit in units(dispatch)[1:]:
            deliver_part(dispatch, unit)
    assert late_error(dispatch, "0001").rejection == "already_finalized"
    dispatch.refresh_from_db()
    assert (dispatch.status, audio().retries_left) == ("active", 10)


def test_an_error_and_a_result_of_the_same_job_at_once_count_once(dispatch):
    barrier, answers = Barrier(2), []

    def say(act):
        barrier.wait()
        answers.append(act(dispatch, "0001").rejection)
        connection.close()

    threads = [Thread(target=say, args=(act,)) for act in (late_error, deliver_part)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    dispatch.refresh_from_db()
    assert answers.count(None) == 1
    assert (dispatch.status == "active") == (audio().retries_left == 10) == bool(Part.objects.count())


@pytest.mark.parametrize("content", [b"", b"x" * 5000])
def test_a_bad_twin_of_a_part_that_counted_changes_nothing(content, dispatch):
    deliver_part(dispatch, "0001")
    assert deliver_part(dispatch, "0001", content).rejection == "already_finalized"
    dispatch.refresh_from_db()
    assert (dispatch.status, Part.objects.count(), len(stored_files())) == ("active", 1, 2)


def test_parts_that_vanish_while_others_are_made_end_the_dispatch_and_are_asked_for_alone(dispatch, hub):
    for unit in units(dispatch)[:-1]:
        deliver_part(dispatch, unit)
    Part.objects.filter(unit="0002").delete()
    deliver_part(dispatch, "0005")
    dispatch.refresh_from_db()
    assert (dispatch.status, dispatch.reason) == ("failed", "part_lost")
    Asset.objects.update(deferred_until=None)
    run_tick(hub)
    assert units(Dispatch.objects.get(status="active")) == ["0002"]


def test_a_dispatch_that_nothing_would_end_is_ended_by_the_tick(dispatch, hub):
    Job.objects.update(status="done")
    run_tick(hub)
    dispatch.refresh_from_db()
    assert (dispatch.status, dispatch.reason, leases("audio")) == ("failed", "part_lost", {})


def test_parts_that_a_dispatch_counts_on_are_not_pruned(dispatch):
    deliver_part(dispatch, "0001")
    Part.objects.update(created_at=Now() - timedelta(days=40))
    with transaction.atomic():
        assert prune()["parts"] == 0


def test_several_damaged_parts_cost_one_retry_and_leave_no_file(dispatch):
    deliver_all_parts(dispatch)
    for unit in ("0001", "0003", "0005"):
        damaged_file(Part.objects.get(unit=unit))
    assert assemble(dispatch.dispatch_id) == Ending.PARTS_LOST
    assert (audio().retries_left, Part.objects.count(), len(stored_files())) == (9, 2, 4)


def test_a_storage_that_cannot_be_asked_loses_no_part(dispatch, book, actor, hub, monkeypatch):
    deliver_part(dispatch, "0001")
    cancel.apply(cancel.Request(book.pk), actor)
    run_tick(hub)
    ask(book, actor, "audio")
    with monkeypatch.context() as patch:

        def away(*_):
            raise OSError("the share is away")

        patch.setattr(store.storage(), "exists", away)
        run_tick(hub)
    assert units(Dispatch.objects.get(status="active")) == ["0002", "0003", "0004", "0005"]


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


def foreign(name):
    return lambda dispatch, files: {"main": replace(files["main"], name=name)}


def beside(role, content_type):
    return lambda dispatch, files: {**files, role: replace(files["subtitles"], role=role, content_type=content_type)}


WRONG = {
    "the identity of the store": foreign("store-identity"),
    "a path": foreign("../../etc/passwd"),
    "no name": foreign(""),
    "another part": lambda dispatch, files: store_part(dispatch, dispatch.jobs.get(unit="0002")),
    "another asset": foreign("999/x-0001.flac"),
    "a page": lambda dispatch, files: {
        **files,
        "page": replace(files["subtitles"], role="page", content_type="text/html"),
    },
    "a role without an end": beside("r" * 40, "text/vtt"),
    "a page as subtitles": lambda dispatch, files: {
        **files,
        "subtitles": replace(files["subtitles"], content_type="text/html"),
    },
}


@pytest.mark.parametrize("name", WRONG)
def test_a_result_that_names_what_is_not_its_own_is_bad_output_and_removes_nothing_else(name, dispatch):
    store.verify_identity()
    job = dispatch.jobs.get(unit="0001")
    files = WRONG[name](dispatch, store_part(dispatch, job))
    answer = accept(dispatch.dispatch_id, job.job_id, str(dispatch.build_id), files)
    assert answer.rejection == "bad_output"
    assert (Part.objects.count(), audio().retries_left) == (0, 9)
    store.verify_identity()


def test_what_a_sender_says_of_size_and_sides_is_not_believed(actor, hub):
    ask(make_book(scenes=1), actor)
    run_tick(hub)
    dispatch = Dispatch.objects.get()
    told = {"main": replace(store_picture(dispatch)["main"], size=-7, width=2**40, height=1, duration_ms=5)}
    assert accept(dispatch.dispatch_id, dispatch.jobs.get().job_id, str(dispatch.build_id), told).rejection is None
    file = ArtifactFile.objects.get()
    assert (file.size, file.width, file.height, file.duration_ms) == (len(webp()), 64, 36, None)


@pytest.mark.long
@pytest.mark.parametrize("who", ["a worker", "the joining"])
def test_a_file_stored_before_the_next_could_not_be_is_removed(who, dispatch, monkeypatch):
    if who == "the joining":
        deliver_all_parts(dispatch)
    before, save, saved = stored_files(), store.save, []

    def full(*args):
        if saved:
            raise OSError("no space left on device")
        saved.append(save(*args))
        return saved[0]

    monkeypatch.setattr(store, "save", full)
    if who == "the joining":
        assert assemble(dispatch.dispatch_id) == Ending.FAILED
    else:
        worker.render(dispatch.dispatch_id, dispatch.jobs.get(unit="0001").job_id)
    dispatch.refresh_from_db()
    assert (len(saved), dispatch.reason) == (1, "storage_failed")
    assert stored_files() == before
