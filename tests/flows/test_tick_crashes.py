"""A tick that dies at any step boundary is repaired by the next one: one dispatch, nothing spent, no lease left."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dispatch.models import Dispatch, Job
from dispatch.tick import run_tick
from dispatch.tick.boundaries import Boundary, reached
from dispatch.tick.lease import Lease
from generation.commands import cancel, regenerate
from generation.lifecycle import State
from generation.models import Asset
from generation.stages import STAGES, StageName
from tests.capacity import leases
from tests.doubles.pictures import deliver_all
from tests.factories.books import images_of, make_book
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)


class Crash(BaseException):
    """The process is gone: nothing catches it, nothing is released."""


@contextmanager
def at(boundary: Boundary, act) -> Iterator[None]:
    def receiver(boundary: Boundary, **_) -> None:
        if boundary == at_boundary:
            act()

    at_boundary = boundary
    reached.connect(receiver, weak=False)
    try:
        yield
    finally:
        reached.disconnect(receiver)


def crash() -> None:
    raise Crash


@pytest.fixture
def mortal(monkeypatch) -> None:
    monkeypatch.setattr(Lease, "release", lambda self: None)


def crashed_tick(hub, boundary: Boundary, lost_tick) -> bool:
    """Run a tick that dies at the boundary; return whether it got there."""
    try:
        with at(boundary, crash):
            run_tick(hub)
    except Crash:
        lost_tick()
        return True
    lost_tick()
    return False


# Two more images than the quota, so that some grants are refused; BEFORE_RELEASE is reached for every batch.
@pytest.mark.parametrize("boundary", sampled(Boundary))
def test_a_tick_that_dies_at_a_boundary_is_repaired_by_the_next(boundary, hub, actor, lost_tick, mortal):
    book = make_book(scenes=2)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    assert crashed_tick(hub, boundary, lost_tick)
    run_tick(hub)
    lost_tick()
    assets = images_of(book)
    dispatches = Dispatch.objects.all()
    assert [asset.state for asset in assets] == [State.GENERATING] * 2
    assert sorted(dispatches.values_list("asset", "status")) == sorted((asset.pk, "active") for asset in assets)
    assert {asset.retries_left for asset in assets} == {STAGES[StageName.IMAGE].retries}
    assert set(Job.objects.values_list("status", flat=True)) == {Job.Status.SENT}
    assert len(hub.jobs) == 2
    assert leases("image") == {dispatch.asset_pk: dispatch.dispatch_id for dispatch in dispatches}
    assert all(answer.rejection is None for answer in deliver_all())
    run_tick(hub)
    assert [asset.state for asset in images_of(book)] == [State.READY] * 2
    assert leases("image") == {}


@pytest.mark.parametrize("boundary", sampled(Boundary))
def test_a_tick_that_dies_while_it_stops_work_leaves_nothing_running(boundary, hub, actor, lost_tick, mortal):
    book = make_book(scenes=2)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    run_tick(hub)
    lost_tick()
    cancel.apply(cancel.Request(book.pk), actor)
    crashed_tick(hub, boundary, lost_tick)
    run_tick(hub)
    lost_tick()
    assert hub.jobs == {}
    assert leases("image") == {}
    assert set(Dispatch.objects.values_list("status", flat=True)) == {"cancelled"}
    assert set(Job.objects.values_list("status", flat=True)) == {Job.Status.DROPPED}
    assert set(Asset.objects.filter(stage="image").values_list("state", flat=True)) == {State.DIRTY}


@pytest.mark.parametrize("boundary", sampled(Boundary))
def test_an_emptied_redis_at_a_boundary_never_lifts_the_quota(boundary, hub, actor, empty_redis):
    book = make_book(scenes=12)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    quota = STAGES[StageName.IMAGE].quota
    with at(boundary, empty_redis.flushdb):
        for _ in range(3):
            run_tick(hub)
            assert Dispatch.objects.filter(status="active").count() <= quota
            assert len(hub.jobs) <= quota
    run_tick(hub)
    assert len(leases("image")) == quota
