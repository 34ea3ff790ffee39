"""Parts of a narration that are bad, late, doubled, or name what is not their own."""

from dataclasses import replace
from threading import Barrier, Thread

import pytest
from django.db import connection

from dispatch import worker
from dispatch.failures import Failure
from dispatch.models import Dispatch, Part
from dispatch.results.accept import accept, accept_error
from dispatch.results.assemble import Ending, assemble
from dispatch.tick import run_tick
from generation import store
from generation.models import ArtifactFile
from tests.doubles.parts import deliver_part, store_part
from tests.doubles.pictures import store_picture, webp
from tests.factories.books import make_book
from tests.flows.asking import ask, stored_files
from tests.flows.narration import audio, book, deliver_all_parts, dispatch, units  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("content", [b"", b"x" * 99, b"x" * 5000])
def test_a_bad_part_is_bad_output_and_the_good_ones_stay(content, dispatch, hub):
    deliver_part(dispatch, "0001")
    assert deliver_part(dispatch, "0002", content).rejection == "bad_output"
    assert (audio().state, audio().deferral_reason, Part.objects.count()) == ("pending", "retry_backoff", 1)
    assert len(stored_files()) == 2


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
