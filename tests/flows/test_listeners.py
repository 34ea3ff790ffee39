"""Listeners hear of every end of a dispatch, once, and can break nothing."""

import pytest

from dispatch.failures import Failure
from dispatch.models import Dispatch
from dispatch.results.accept import accept_error
from dispatch.results.listeners import dispatch_ended
from dispatch.tick import run_tick
from generation.commands import cancel
from tests.doubles.pictures import deliver
from tests.flows.asking import image

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def heard():
    told = []

    def listen(ended, **_):
        told.append(ended)

    dispatch_ended.connect(listen)
    yield told
    dispatch_ended.disconnect(listen)


def succeed(dispatch, hub, actor):
    deliver(dispatch)
    deliver(dispatch)


def fail(dispatch, hub, actor):
    for _ in range(2):
        accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", Failure("render_failed"))


def stop(dispatch, hub, actor):
    cancel.apply(cancel.Request(dispatch.book_id), actor)
    run_tick(hub)
    run_tick(hub)


@pytest.mark.parametrize(
    ("end", "result", "reason"),
    [(succeed, "completed", ""), (fail, "failed", "render_failed"), (stop, "cancelled", "superseded")],
)
def test_every_end_is_told_once_with_its_ids_reason_and_times(end, result, reason, dispatch, hub, actor, heard):
    end(dispatch, hub, actor)
    (ended,) = heard
    assert (ended.dispatch_id, ended.result, ended.reason) == (dispatch.dispatch_id, result, reason)
    assert (ended.asset_pk, ended.stage, ended.scene_pk) == (dispatch.asset_pk, "image", dispatch.scene_pk)
    assert ended.began_at == dispatch.created_at < ended.ended_at


def test_a_listener_that_fails_breaks_nothing_and_keeps_no_other_from_hearing(dispatch, heard, caplog):
    def broken(**_):
        raise RuntimeError("out of ears")

    dispatch_ended.connect(broken)
    try:
        assert deliver(dispatch).accepted
    finally:
        dispatch_ended.disconnect(broken)
    assert (image().state, len(heard)) == ("ready", 1)
    assert "out of ears" in caplog.text
    assert Dispatch.objects.get().release_due is False
