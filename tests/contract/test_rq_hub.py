"""What only the RQ hub has: states of a hash, stop commands, guards."""

import django_rq
import pytest
from django.db import transaction
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer

from dispatch.hubs.base import Life
from dispatch.hubs.rq import keys
from dispatch.hubs.rq.hub import RqHub
from tests.contract.test_hubs import envelope


@pytest.mark.parametrize("status", [JobStatus.FAILED, JobStatus.STOPPED, JobStatus.CANCELED])
def test_the_hash_of_a_job_that_will_not_run_is_no_receipt(status):
    hub, sent = RqHub(), envelope()
    hub.submit(sent)
    rq_id = keys.rq_job_id(sent.ref.dispatch_id, sent.ref.job_id)
    connection = django_rq.get_connection("gpu-image")
    Job.fetch(rq_id, connection=connection, serializer=JSONSerializer).set_status(status)
    connection.lrem(keys.queue("image"), 0, rq_id)
    assert not hub.submit(sent).duplicate
    assert django_rq.get_queue("gpu-image").job_ids == [rq_id]


def test_a_hash_that_no_register_holds_is_no_receipt():
    hub, sent = RqHub(), envelope()
    hub.submit(sent)
    django_rq.get_connection("gpu-image").delete(keys.queue("image"))
    assert not hub.submit(sent).duplicate
    assert hub.evidence([sent.ref])[sent.ref] == Life.QUEUED


def test_the_arguments_on_the_queue_are_two_ids_in_json():
    hub, sent = RqHub(), envelope()
    hub.submit(sent)
    (job,) = django_rq.get_queue("gpu-image").jobs
    assert job.args == [sent.ref.dispatch_id, sent.ref.job_id]
    assert (job.timeout, job.func_name) == (600, "dispatch.worker.render")


def test_a_running_job_is_told_to_stop_and_confirmed_once_it_is_gone():
    hub, sent = RqHub(), envelope()
    hub.submit(sent)
    rq_id = keys.rq_job_id(sent.ref.dispatch_id, sent.ref.job_id)
    connection = django_rq.get_connection("gpu-image")
    connection.delete(keys.queue("image"))
    connection.sadd(keys.WORKERS, "w1")
    connection.set(keys.beat("w1"), f'{{"stage": "image", "job": "{rq_id}", "draining": false}}', ex=30)
    assert hub.clear([sent.ref.dispatch_id]).failed == {sent.ref.dispatch_id}
    connection.delete(keys.beat("w1"))
    assert hub.clear([sent.ref.dispatch_id]).cleared == {sent.ref.dispatch_id}


@pytest.mark.django_db(transaction=True)
def test_the_hub_is_not_called_inside_an_open_transaction():
    with transaction.atomic(), pytest.raises(RuntimeError, match="inside an open transaction"):
        RqHub().submit(envelope())


def test_evidence_takes_the_same_round_trips_for_few_and_many_jobs(round_trips):
    hub = RqHub()
    refs = [envelope().ref for _ in range(200)]
    few = round_trips(lambda: hub.evidence(refs[:1]))
    assert round_trips(lambda: hub.evidence(refs)) == few
