"""The joining of a narration: asked for until it is done, once, whatever dies."""

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection
from django.db.models.functions import Now

from dispatch.hubs.rq import keys
from dispatch.models import Dispatch, Part, TickLease
from dispatch.results import assemble as assembling
from dispatch.results.assemble import Ending, assemble
from dispatch.tick import run_tick
from generation.commands import cancel, delete
from generation.models import Target
from tests.capacity import leases
from tests.doubles.parts import deliver_part, heard
from tests.flows.asking import ask, stored_files
from tests.flows.narration import PARTS, audio, book, deliver_all_parts, dispatch, published, queued, units  # noqa: F401 - fixtures
from tests.processes import running
from tests.sampling import sampled
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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
