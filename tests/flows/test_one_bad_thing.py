"""One bad letter, file, job or answer never stops the others, and never the tick."""

import struct
import zlib

import pytest
from django.db import DataError

from dispatch.capacity import keys
from dispatch.capacity.scripts import client
from dispatch.failures import Failure
from dispatch.hubs.base import HubError, JobRef
from dispatch.models import Dispatch, Job, TickLease
from dispatch.results.accept import accept_error
from dispatch.results.outcomes import Rejection
from dispatch.tick import prepare, run_tick
from generation import store
from generation.lifecycle import State
from generation.models import Asset, Target, Task
from tests.capacity import leases
from tests.doubles.pictures import deliver, store_picture
from tests.factories.books import images_of, make_book
from tests.flows.asking import ask, image, states

pytestmark = pytest.mark.django_db(transaction=True)


def letter_of(dispatch, hub, **payload) -> JobRef:
    ref = JobRef(dispatch.dispatch_id, dispatch.jobs.get().job_id, dispatch.stage)
    hub.finished[ref] = {"build_id": str(dispatch.build_id), **payload}
    return ref


@pytest.mark.long
@pytest.mark.parametrize(
    "error",
    [
        {"type": "transient", "reason": "x", "message": "bad \x00"},
        {"type": "transient", "reason": "x\x00", "message": "bad \udcff"},
        {"type": "weird", "reason": "x", "message": "m"},
        {"type": ["no", "text"]},
        {},
    ],
)
def test_an_error_letter_with_any_text_counts_once_and_is_forgotten(error, dispatch, hub):
    letter_of(dispatch, hub, error=error)
    run_tick(hub)
    assert (image().state, image().retries_left) == (State.PENDING, 9)
    assert hub.finished == {}


@pytest.mark.parametrize(
    "payload", [{}, {"error": None}, {"files": {"main": {"odd": 1}}}, {"files": None}], ids=lambda payload: str(payload)
)
def test_a_letter_that_says_nothing_is_reported_and_forgotten(payload, dispatch, hub):
    letter_of(dispatch, hub, **payload)
    report = run_tick(hub)
    assert [error["reason"] for error in report.errors] == ["mailbox"]
    assert hub.finished == {}
    assert image().state == State.GENERATING


@pytest.mark.long
def test_a_letter_that_the_storage_cannot_read_now_stays_and_keeps_nothing_else(dispatch, hub, actor, monkeypatch):
    files = store_picture(dispatch)
    letter_of(dispatch, hub, files={"main": files["main"].as_json()})
    other = make_book(scenes=1)
    ask(other, actor)
    with monkeypatch.context() as broken:

        def denied(name):
            raise PermissionError(13, "denied")

        broken.setattr(store, "open_file", denied)
        report = run_tick(hub)
    assert [error["reason"] for error in report.errors] == ["mailbox"]
    assert states(other) == [State.GENERATING]
    run_tick(hub)
    assert image_of(dispatch).state == State.READY
    assert hub.finished == {}


def image_of(dispatch):
    return images_of(dispatch.book)[0]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_with_a_bad_chunk() -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 36, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"\xff" * 300


def test_a_picture_that_makes_the_decoder_stumble_is_bad_output(dispatch):
    assert deliver(dispatch, png_with_a_bad_chunk()).rejection == Rejection.BAD_OUTPUT


@pytest.mark.parametrize("error", [HubError("odd"), ValueError("odd"), OSError("odd")])
def test_an_unexpected_error_of_one_submission_lets_the_others_go_out(error, hub, actor):
    book = make_book(scenes=3)
    ask(book, actor)
    hub.answers = [error]
    report = run_tick(hub)
    assert [problem["reason"] for problem in report.errors] == ["ambiguous_post"]
    assert sorted(Job.objects.values_list("status", flat=True)) == ["reserved", "sent", "sent"]
    assert run_tick(hub) is not None
    Job.objects.update(next_send_at=None)
    run_tick(hub)
    assert set(Job.objects.values_list("status", flat=True)) == {"sent"}
    assert Dispatch.objects.count() == 3


def test_a_plain_regenerate_restarts_what_a_blocked_task_holds(hub, actor):
    book = make_book(scenes=1)
    hub.worker_counts["image"] = 0
    ask(book, actor)
    run_tick(hub)
    assert Task.objects.get().status == Task.Status.BLOCKED
    hub.worker_counts["image"] = 1
    assert ask(book, actor)["targets"] == 1
    run_tick(hub)
    assert states(book) == [State.GENERATING]
    assert sorted(Task.objects.values_list("status", flat=True)) == ["active", "completed"]


def test_an_error_text_with_a_nul_is_kept_without_it(dispatch):
    failure = Failure("hub_rejected", "a\x00b")
    accept_error(dispatch.dispatch_id, Job.objects.get().job_id, "", failure)
    assert image().failure_message == "ab"


@pytest.mark.long
@pytest.mark.parametrize("error", [DataError("this row cannot be read"), ValueError("nor can this")])
def test_one_asset_that_cannot_be_prepared_is_counted_and_stops_no_other_of_its_book(error, hub, actor, monkeypatch):
    book = make_book(scenes=4)
    ask(book, actor)
    bad = images_of(book)[1].pk
    write = prepare._write

    def poisoned(run, asset, *rest):
        if asset.pk == bad:
            raise error
        return write(run, asset, *rest)

    monkeypatch.setattr(prepare, "_write", poisoned)
    report = run_tick(hub)
    assert [(problem["reason"], problem["asset"]) for problem in report.errors] == [("dispatch_error", bad)]
    assert states(book) == [State.GENERATING, State.PENDING, State.GENERATING, State.GENERATING]
    assert len(leases("image")) == 3
    for number in range(2, 11):
        Asset.objects.filter(pk=bad).update(deferred_until=None)
        run_tick(hub)
        stuck = Asset.objects.get(pk=bad)
        assert (stuck.refusal_count, bool(stuck.deferred_until)) == ((number, True) if number < 10 else (9, False))
    assert (stuck.state, stuck.failure_reason, stuck.retries_left) == (State.FAILED, "dispatch_error", 10)
    assert not Target.objects.filter(asset=bad, status=Target.Status.OPEN).exists()
    for dispatch in Dispatch.objects.filter(status="active"):
        deliver(dispatch)
    run_tick(hub)
    assert Task.objects.get().counts == {"done": 3, "failed": 1}


def test_a_restored_database_beside_an_old_redis_ticks_at_once(hub, actor):
    book = make_book(scenes=1)
    ask(book, actor)
    client().set(keys.FENCE, 5000)
    assert run_tick(hub).dispatched == 1
    assert TickLease.objects.get().fence == 5001
