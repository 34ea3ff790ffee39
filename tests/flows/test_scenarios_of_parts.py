"""Faults that others suffered, where work has parts, limits and a time of its own."""

import time
from threading import Barrier, Thread

import django_rq
import pytest
from django.db import connection
from rq import Queue
from rq.job import Job as RqJob
from rq.serializers import JSONSerializer

from dispatch.failures import Failure
from dispatch.hubs.rq import keys
from dispatch.hubs.rq.hub import RqHub
from dispatch.models import Dispatch, Job, Part
from dispatch.results.accept import accept_error
from dispatch.results.assemble import Ending, assemble
from dispatch.tick import run_tick
from dispatch.tick.boundaries import Boundary
from dispatch.worker import Worker
from generation.models import Asset, LayerConfig, Target
from tests.capacity import leases
from tests.doubles.hub import staff
from tests.doubles.parts import deliver_part, long_book
from tests.factories.books import make_book
from tests.flows.asking import ask, image
from tests.flows.test_tick_crashes import crashed_tick, mortal  # noqa: F401 - a fixture
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)


def in_parallel(number, act) -> list:
    barrier, answers = Barrier(number), []

    def run(index) -> None:
        barrier.wait()
        answers.append(act(index))
        connection.close()

    threads = [Thread(target=run, args=(index,)) for index in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_43_the_time_a_layer_gives_its_jobs_reaches_the_worker(actor, monkeypatch):
    monkeypatch.setattr(RqHub, "workers", lambda self: staff(image=1))
    book = make_book(scenes=1)
    LayerConfig.objects.set(book, ["image"], job_timeout_min=7)
    ask(book, actor)
    run_tick()
    job = Job.objects.get()
    queued = RqJob.fetch(
        keys.rq_job_id(job.dispatch.dispatch_id, job.job_id),
        connection=django_rq.get_connection("gpu-image"),
        serializer=JSONSerializer,
    )
    assert (job.timeout_s, queued.timeout) == (420, 420)


@pytest.mark.long
def test_43_a_job_that_takes_longer_is_ended_by_its_worker_and_costs_a_retry(actor, monkeypatch):
    """The worker forks: what is patched here is patched in its horse."""
    monkeypatch.setattr(RqHub, "workers", lambda self: staff(image=1))
    monkeypatch.setattr("dispatch.worker.render_envelope", lambda envelope, tools: time.sleep(60))
    ask(make_book(scenes=1), actor)
    run_tick()
    client = django_rq.get_connection("gpu-image")
    Job.objects.update(timeout_s=1)
    rq_id = client.lrange(keys.queue("image"), 0, 0)[0].decode()
    client.hset(keys.job(rq_id), "timeout", 1)
    Worker([Queue("gpu-image", connection=client, serializer=JSONSerializer)], connection=client).work(burst=True)
    assert (image().state, image().retries_left, image().deferral_reason) == ("pending", 9, "retry_backoff")
    assert Dispatch.objects.get().reason == "worker_timeout"


def test_51_ten_errors_of_one_dispatch_at_once_spend_one_retry(actor, hub):
    ask(make_book(scenes=1), actor)
    run_tick(hub)
    dispatch, job = Dispatch.objects.get(), Job.objects.get()
    identity = (dispatch.dispatch_id, job.job_id, str(dispatch.build_id))
    answers = in_parallel(10, lambda _: accept_error(*identity, Failure("render_failed")))
    assert sorted(str(answer.rejection) for answer in answers) == ["None"] + ["stale_dispatch"] * 9
    assert image().retries_left == 9


@pytest.mark.long
def test_51_ten_assets_that_fail_at_once_spend_exactly_their_own(actor, hub, settings):
    hub.worker_counts = {"audio": 1, "image": 1, "video": 1}
    books = [make_book(scenes=1) for _ in range(8)]
    for book in books:
        ask(book, actor, "audio")
    run_tick(hub)
    dispatches = list(Dispatch.objects.all())
    assert len(dispatches) == 8

    def fail(index):
        dispatch = dispatches[index]
        job = dispatch.jobs.get()
        return accept_error(dispatch.dispatch_id, job.job_id, "", Failure("render_failed")).rejection

    assert in_parallel(8, fail) == [None] * 8
    assert set(Asset.objects.filter(stage="audio").values_list("retries_left", flat=True)) == {9}


@pytest.mark.long
@pytest.mark.usefixtures("no_circuit")
def test_51_a_budget_of_ten_is_ten_retries_and_one_of_none_is_none(actor, hub):
    ask(make_book(scenes=1), actor)
    tries = 0
    while image().state != "failed":
        Asset.objects.update(deferred_until=None)
        run_tick(hub)
        dispatch = Dispatch.objects.get(status="active")
        accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", Failure("render_failed"))
        tries += 1
        assert tries <= 11
    assert (tries, image().failure_reason) == (11, "retry_budget_exceeded")
    ask(image().book, actor)
    Asset.objects.update(retries_left=0)
    run_tick(hub)
    dispatch = Dispatch.objects.get(status="active")
    accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", Failure("render_failed"))
    assert (image().state, Target.objects.latest("pk").status) == ("failed", "failed")


@pytest.mark.parametrize("boundary", sampled(Boundary))
def test_53_a_tick_that_dies_leaves_parts_and_their_joining_to_the_next(boundary, actor, hub, lost_tick, mortal):  # noqa: F811
    ask(long_book(3), actor, "audio")
    run_tick(hub)
    lost_tick()
    dispatch = Dispatch.objects.get()
    for unit in ("0001", "0002"):
        deliver_part(dispatch, unit)
    crashed_tick(hub, boundary, lost_tick)
    deliver_part(dispatch, "0003")
    django_rq.get_connection("assembly").flushdb()
    crashed_tick(hub, boundary, lost_tick)
    run_tick(hub)
    lost_tick()
    assert leases("audio") == {dispatch.asset_pk: dispatch.dispatch_id}
    assert assemble(dispatch.dispatch_id) == Ending.PUBLISHED
    run_tick(hub)
    asset = Asset.objects.get(stage="audio")
    assert (asset.state, asset.retries_left, Dispatch.objects.count()) == ("ready", 10, 1)
    assert (leases("audio"), Part.objects.count(), Target.objects.get().status) == ({}, 0, "done")
