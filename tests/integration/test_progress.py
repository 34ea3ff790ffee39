"""How far work is, as its workers tell."""

from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.db.models.functions import Now

from dispatch.models import Dispatch, Job
from dispatch.results import progress
from dispatch.results.progress import Reporter, note_progress
from dispatch.tick import run_tick
from generation import words
from generation.commands import cancel
from generation.models import Asset
from generation.stages import STAGES, StageName
from tests.doubles.parts import deliver_part, long_book
from tests.doubles.pictures import deliver
from tests.factories.books import make_book
from tests.flows.asking import ask, image

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dispatch(actor, hub) -> Dispatch:
    ask(make_book(scenes=1), actor)
    run_tick(hub)
    return Dispatch.objects.get()


def tell(dispatch, percent, job_id=None) -> bool:
    return note_progress(dispatch.dispatch_id, job_id or dispatch.jobs.get().job_id, percent)


def test_what_a_worker_tells_is_seen_on_the_asset_and_gone_when_it_is_ready(dispatch):
    assert tell(dispatch, 38)
    assert words.progress(image()) == "Generating 38 %"
    deliver(dispatch)
    assert (image().progress_percent, words.progress(image())) == (0, "Ready")


def test_only_a_rise_is_progress(dispatch):
    assert tell(dispatch, 40)
    Dispatch.objects.update(progress_at=Now() - timedelta(minutes=20))
    before = Dispatch.objects.get().progress_at
    assert not tell(dispatch, 40)
    assert not tell(dispatch, 10)
    assert (image().progress_percent, Dispatch.objects.get().progress_at) == (40, before)


@pytest.mark.parametrize(("told", "shown"), [(-5, 0), (100, 99), (2**40, 99)])
def test_a_job_that_runs_is_never_done_and_never_less_than_nothing(told, shown, dispatch):
    tell(dispatch, told)
    assert image().progress_percent == shown


def test_a_worker_of_an_ended_dispatch_moves_nothing(dispatch, actor, hub):
    cancel.apply(cancel.Request(dispatch.book_pk), actor)
    tell(dispatch, 50)
    assert (image().state, image().progress_percent) == ("dirty", 0)
    run_tick(hub)
    assert not tell(dispatch, 60)
    ask(dispatch.book, actor)
    run_tick(hub)
    assert not note_progress(dispatch.dispatch_id, dispatch.jobs.get().job_id, 70)
    assert (image().state, image().progress_percent) == ("generating", 0)


@pytest.mark.parametrize("ids", [("", ""), ("f" * 32, "b1_c1_s1:video")])
def test_progress_of_nothing_of_ours_is_nothing(ids, dispatch):
    assert not note_progress(*ids, 50)


def test_running_parts_count_as_far_as_they_are(actor, hub):
    ask(long_book(4), actor, "audio")
    run_tick(hub)
    dispatch = Dispatch.objects.get()
    deliver_part(dispatch, "0001")
    for unit, percent in (("0002", 50), ("0003", 30)):
        tell(dispatch, percent, dispatch.jobs.get(unit=unit).job_id)
    asset = Asset.objects.get(stage="audio")
    assert (asset.progress_percent, asset.parts_done) == (45, 1)
    assert words.progress(asset) == "Generating 45 %, 1 of 4 parts"
    for unit in ("0002", "0003", "0004"):
        deliver_part(dispatch, unit)
    assert words.progress(Asset.objects.get(stage="audio")) == "Joining 4 parts"


def test_a_worker_tells_at_most_every_two_seconds_and_bears_a_lost_database(dispatch, monkeypatch):
    told, clock = [], [100.0]

    def note(*args):
        told.append(args[2])
        if len(told) == 2:
            raise DatabaseError("away")

    monkeypatch.setattr(progress, "note_progress", note)
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    reporter = Reporter(dispatch.dispatch_id, "job")
    for share in (0.1, 0.2, 0.3, 0.4, 0.5):
        reporter.tell(share)
        clock[0] += 1
    assert told == [10, 30, 50]


@pytest.mark.long
@pytest.mark.parametrize("stage", ["audio", "image", "video"])
def test_a_worker_that_says_the_same_for_ever_stalls(stage, actor, hub):
    book = make_book(scenes=1)
    if stage == "video":
        ask(book, actor)
        run_tick(hub)
        deliver(Dispatch.objects.get())
        run_tick(hub)
    ask(book, actor, stage)
    run_tick(hub)
    dispatch = Dispatch.objects.get(status="active")
    hub.running.update(hub.jobs)
    run_tick(hub)
    tell(dispatch, 40)
    window = timedelta(seconds=STAGES[StageName(stage)].stall_s)
    for ago, status in ((window - timedelta(minutes=1), "active"), (window + timedelta(seconds=30), "failed")):
        Dispatch.objects.filter(pk=dispatch.pk).update(progress_at=Now() - ago)
        Job.objects.filter(dispatch=dispatch).update(running_at=Now() - ago)
        tell(dispatch, 40)
        run_tick(hub)
        dispatch.refresh_from_db()
        assert dispatch.status == status
    assert dispatch.reason == "stalled"
