"""Real workers in real processes on a real Valkey."""

import os
import signal

import django_rq
import psutil
import pytest
from rq import Queue
from rq.job import Job as RqJob
from rq.serializers import JSONSerializer, PickleSerializer

from dispatch.hubs.base import ready
from dispatch.hubs.rq import keys
from dispatch.hubs.rq.hub import RqHub
from dispatch.models import Dispatch, Job
from dispatch.rendering.registry import RENDERERS
from dispatch.results.mailbox import collect
from dispatch.tick import run_tick
from dispatch.worker import Worker
from generation import store
from generation.commands import cancel, regenerate
from generation.lifecycle import State
from generation.models import ArtifactFile, Asset, StageConfig, Target, Task
from generation.stages import StageName
from tests.doubles.hub import staff
from tests.factories.books import images_of, make_book
from tests.processes import worker
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def has_worker() -> bool:
    return ready(RqHub().workers())["image"] > 0


def tick_until(condition) -> None:
    def looks() -> bool:
        run_tick()
        return bool(condition())

    wait_until(looks)


def all_in(book, state) -> bool:
    return {asset.state for asset in images_of(book)} == {state}


def test_a_worker_process_draws_the_pictures_that_were_asked_for(actor):
    book = make_book(scenes=2)
    with worker():
        wait_until(has_worker)
        regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
        tick_until(lambda: all_in(book, State.READY))
        # An accepted job leaves nothing behind in Redis.
        wait_until(lambda: not django_rq.get_connection("gpu-image").keys("rq:job:*-b*"))
    files = ArtifactFile.objects.filter(role="main")
    assert {(file.content_type, file.width, file.height) for file in files} == {("image/webp", 1920, 1080)}
    assert all(store.storage().exists(file.name) for file in files)
    assert not Asset.objects.exclude(stage="image").exclude(state=State.NEW).exists()


@pytest.mark.long
def test_without_a_worker_the_task_is_blocked_and_a_new_command_finishes_once_one_is_there(actor):
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    report = run_tick()
    task = Task.objects.get()
    assert (task.status, task.reason) == (Task.Status.BLOCKED, "no_worker:image")
    assert (report.blocked, report.dispatched) == (1, 0)
    with worker():
        wait_until(has_worker)
        run_tick()
        assert all_in(book, State.PENDING)
        regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
        tick_until(lambda: all_in(book, State.READY))
    run_tick()
    statuses = {task.pk: task.status for task in Task.objects.all()}
    assert statuses == {task.pk: Task.Status.COMPLETED for task in Task.objects.all()}


@pytest.mark.long
def test_a_pickle_on_a_queue_is_refused(tmp_path):
    connection = django_rq.get_connection("gpu-image")
    trace = tmp_path / "ran"
    queue = Queue("gpu-image", connection=connection, serializer=PickleSerializer)
    job = queue.enqueue(os.mkdir, str(trace))
    with worker():
        wait_until(lambda: job.get_status(refresh=True).value == "failed")
    assert not trace.exists()
    failed = RqJob.fetch(job.id, connection=connection, serializer=JSONSerializer)
    assert "DeserializationError" in str(failed.latest_result().exc_string)


@pytest.mark.long
def test_a_job_that_was_stopped_before_a_worker_took_it_renders_nothing(actor):
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    hub = RqHub()
    with worker() as process:
        wait_until(has_worker)
        os.kill(process.pid, signal.SIGSTOP)
        run_tick()
        cancel.apply(cancel.Request(book.pk), actor)
        os.kill(process.pid, signal.SIGCONT)
        tick_until(lambda: set(Job.objects.values_list("status", flat=True)) == {Job.Status.DROPPED})
        assert all_in(book, State.DIRTY)
        assert not ArtifactFile.objects.exists()
        assert hub.undelivered() == []


def horse_of(process) -> psutil.Process | None:
    return next(iter(psutil.Process(process.pid).children()), None)


@pytest.mark.long
def test_a_killed_horse_costs_one_retry_and_its_work_is_done_again(actor, settings):
    book = make_book(scenes=6)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    with worker() as process:
        wait_until(has_worker)
        run_tick()
        wait_until(lambda: horse_of(process) and Job.objects.filter(running_at__isnull=False).exists())
        horse_of(process).kill()
        wait_until(lambda: Dispatch.objects.filter(status="failed", reason="worker_killed").exists())
    failed = Dispatch.objects.get(reason="worker_killed").asset
    assert (failed.state, failed.retries_left, failed.deferral_reason) == (State.PENDING, 9, "retry_backoff")
    assert Target.objects.get(asset=failed).status == Target.Status.OPEN


@pytest.mark.long
def test_a_killed_worker_takes_its_horse_with_it(actor):
    book = make_book(scenes=6)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    with worker() as process:
        wait_until(has_worker)
        run_tick()
        wait_until(lambda: horse_of(process))
        horse = horse_of(process)
        process.kill()
        process.wait()
        wait_until(lambda: not horse.is_running() or horse.status() == psutil.STATUS_ZOMBIE)


@pytest.mark.long
def test_a_worker_is_listed_again_after_redis_was_emptied(empty_redis):
    with worker():
        wait_until(has_worker)
        empty_redis.flushdb()
        # Whatever is listed now, a beat after the emptying listed it.
        wait_until(has_worker, timeout_s=20)


@pytest.mark.long
def test_a_worker_that_ends_in_order_is_gone_at_once():
    with worker() as process:
        wait_until(has_worker)
        process.terminate()
        process.wait()
        assert not has_worker()


@pytest.mark.long
def test_a_result_that_could_not_be_handed_over_waits_in_the_mailbox_and_counts_once(actor, monkeypatch):
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    hub = RqHub()
    monkeypatch.setattr(RqHub, "workers", lambda self: staff(image=1))
    run_tick()
    queue = django_rq.get_queue("gpu-image")
    rq_job = queue.jobs[0]

    def away(*_: object) -> None:
        raise OSError("PostgreSQL is away")

    monkeypatch.setattr("dispatch.worker.accept", away)
    from dispatch.worker import Worker

    class InProcess(Worker):
        """Run the job in this process, with everything else as the real worker does it."""

        def execute_job(self, job, queue):
            execution = self.prepare_execution(job)
            self.perform_job(job, queue, execution)

    InProcess([queue], connection=queue.connection).work(burst=True)
    assert [letter.payload["dispatch_id"] for letter in hub.undelivered()] == [rq_job.args[0]]
    assert all_in(book, State.GENERATING)
    assert collect(hub) == []
    assert hub.undelivered() == []
    assert all_in(book, State.READY)


def test_a_job_that_an_emptied_redis_lost_is_sent_again_free_of_charge(actor, empty_redis, monkeypatch):
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    monkeypatch.setattr(RqHub, "workers", lambda self: staff(image=1))
    run_tick()
    dispatch = Dispatch.objects.get()
    empty_redis.flushdb()
    run_tick()
    assert Job.objects.get().status == Job.Status.SENT  # absent once is not gone
    Job.objects.update(absent_since="2000-01-01T00:00:00Z")
    run_tick()
    assert Dispatch.objects.get().pk == dispatch.pk
    assert Job.objects.get().status == Job.Status.SENT
    rq_id = keys.rq_job_id(dispatch.dispatch_id, dispatch.jobs.get().job_id)
    assert django_rq.get_queue("gpu-image").job_ids == [rq_id]
    assert images_of(book)[0].retries_left == 10


def test_a_worker_for_a_stage_that_nothing_renders_does_not_start(monkeypatch):
    monkeypatch.delitem(RENDERERS, StageName.AUDIO)
    client = django_rq.get_connection("gpu-audio")
    idle = Worker([Queue("gpu-audio", connection=client, serializer=JSONSerializer)], connection=client)
    with pytest.raises(SystemExit, match="Nothing here renders audio"):
        idle.work(burst=True)
    assert RqHub().workers() == []


@pytest.mark.long
def test_a_worker_that_is_drained_finishes_its_job_and_stops_and_another_goes_on(actor):
    StageConfig.objects.create(stage="image", quota=6)
    book = make_book(scenes=6)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    with worker() as process:
        wait_until(has_worker)
        tick_until(lambda: Asset.objects.filter(book=book, state="ready").exists())
        (name,) = [worker.name for worker in RqHub().workers()]
        assert RqHub().drain({name, "nobody"}) == {name}
        wait_until(lambda: process.poll() is not None, timeout_s=60)
        assert process.returncode == 0
    assert name in set(Job.objects.values_list("worker", flat=True))
    run_tick()
    assert RqHub().workers() == []
    assert set(Task.objects.values_list("status", flat=True)) <= {"active", "completed"}
    with worker():
        tick_until(lambda: all_in(book, State.READY))
    assert {asset.retries_left for asset in images_of(book)} == {10}
    assert Dispatch.objects.count() == 6
