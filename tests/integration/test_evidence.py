"""What evidence about jobs does, with time moved by moving the stored instants."""

import pytest

from dispatch.hubs.base import SubmissionUnknown, Undelivered
from dispatch.models import Dispatch, Job
from dispatch.tick import run_tick
from generation.commands import regenerate
from generation.lifecycle import State
from generation.models import Asset
from tests.capacity import leases
from tests.doubles.pictures import store_picture
from tests.factories.books import images_of, make_book

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = "2000-01-01T00:00:00Z"


@pytest.fixture
def job(hub, actor) -> Job:
    regenerate.apply(regenerate.Request(make_book(scenes=1).pk, ("image",)), actor)
    run_tick(hub)
    return Job.objects.get()


def outcome(job):
    dispatch = Dispatch.objects.get(pk=job.dispatch_id)
    return dispatch.status, dispatch.reason


def ref(hub):
    (only,) = hub.jobs
    return only


def test_a_running_job_is_noted_once(hub, job):
    hub.running.add(ref(hub))
    run_tick(hub)
    first = Job.objects.get().running_at
    run_tick(hub)
    assert first is not None
    assert Job.objects.get().running_at == first


def test_a_job_absent_once_is_not_gone(hub, job):
    hub.forget(ref(hub))
    run_tick(hub)
    run_tick(hub)
    assert outcome(job) == ("active", "")
    assert Job.objects.get().absent_since is not None


def test_a_job_seen_again_starts_the_count_anew(hub, job):
    envelope = hub.jobs[ref(hub)]
    hub.forget(envelope.ref)
    run_tick(hub)
    hub.jobs[envelope.ref] = envelope
    run_tick(hub)
    assert Job.objects.get().absent_since is None


def test_a_queued_job_that_is_gone_is_sent_again_under_the_same_ids(hub, job):
    sent = ref(hub)
    hub.forget(sent)
    run_tick(hub)
    Job.objects.update(absent_since=LONG_AGO)
    run_tick(hub)
    assert hub.submissions == [sent, sent]
    assert images_of(job.dispatch.book)[0].retries_left == 10


def test_a_running_job_that_is_gone_is_orphaned_and_costs_one_retry(hub, job):
    hub.running.add(ref(hub))
    run_tick(hub)
    hub.forget(ref(hub))
    run_tick(hub)
    Job.objects.update(absent_since=LONG_AGO)
    run_tick(hub)
    asset = images_of(job.dispatch.book)[0]
    assert outcome(job) == ("failed", "orphaned")
    assert (asset.state, asset.retries_left) == (State.PENDING, 9)


@pytest.mark.long
def test_the_mailbox_is_read_before_a_job_is_judged_gone(hub, job):
    only = ref(hub)
    hub.running.add(only)
    run_tick(hub)
    hub.forget(only)
    Job.objects.update(absent_since=LONG_AGO)
    files = store_picture(job.dispatch)
    payload = {"build_id": str(job.dispatch.build_id), "files": {"main": files["main"].as_json()}}
    hub.finished[only] = Undelivered(only, payload).payload
    run_tick(hub)
    assert outcome(job) == ("succeeded", "")
    assert hub.finished == {}


def test_an_error_in_the_mailbox_counts_like_one_handed_over(hub, job):
    only = ref(hub)
    hub.finished[only] = {"error": {"type": "permanent", "reason": "nothing_to_render", "message": "No words."}}
    run_tick(hub)
    assert images_of(job.dispatch.book)[0].failure_reason == "nothing_to_render"


def test_unknown_never_fails_work(hub, job):
    hub.down = True
    Job.objects.update(absent_since=LONG_AGO, sent_at=LONG_AGO)
    for _ in range(3):
        run_tick(hub)
    assert outcome(job) == ("active", "")
    assert leases("image") == {job.asset_pk: job.dispatch.dispatch_id}


def test_a_job_that_runs_past_its_time_ends_as_worker_timeout(hub, job):
    hub.running.add(ref(hub))
    Job.objects.update(running_at=LONG_AGO)
    run_tick(hub)
    assert outcome(job) == ("failed", "worker_timeout")
    run_tick(hub)
    assert hub.jobs == {}


def test_a_job_that_waits_in_the_queue_has_no_deadline(hub, job):
    Job.objects.update(sent_at=LONG_AGO)
    for _ in range(3):
        run_tick(hub)
    assert outcome(job) == ("active", "")


def test_without_progress_for_the_stall_window_a_running_dispatch_ends(hub, job):
    Job.objects.update(timeout_s=2_000_000_000)
    hub.running.add(ref(hub))
    run_tick(hub)
    Job.objects.update(running_at=LONG_AGO)
    Dispatch.objects.update(progress_at=LONG_AGO)
    run_tick(hub)
    assert outcome(job) == ("failed", "stalled")


def test_a_hub_without_evidence_ends_a_job_by_its_deadline_alone(hub, job):
    hub.has_evidence = False
    hub.jobs.clear()
    Job.objects.update(sent_at=LONG_AGO)
    run_tick(hub)
    assert outcome(job) == ("failed", "worker_timeout")
    assert Asset.objects.get(stage="image").state == State.PENDING


@pytest.mark.parametrize("is_running", [False, True])
def test_evidence_makes_a_job_sent_whose_receipt_was_lost_and_it_is_not_sent_again(is_running, hub, actor):
    regenerate.apply(regenerate.Request(make_book(scenes=1).pk, ("image",)), actor)

    def times_out(envelope):
        raise SubmissionUnknown("no answer")

    hub.on_submit = times_out
    run_tick(hub)
    assert (Job.objects.get().status, len(hub.submissions)) == ("reserved", 1)
    if is_running:
        hub.running.add(ref(hub))
    run_tick(hub)
    job = Job.objects.get()
    assert (job.status, job.next_send_at, job.running_at is not None) == ("sent", None, is_running)
    Job.objects.update(next_send_at=None)
    run_tick(hub)
    assert len(hub.submissions) == 1


def test_a_job_whose_receipt_was_lost_and_that_did_not_arrive_goes_again_under_its_ids(hub, actor):
    regenerate.apply(regenerate.Request(make_book(scenes=1).pk, ("image",)), actor)
    hub.answers = [SubmissionUnknown("no answer")]
    run_tick(hub)
    for _ in range(3):
        run_tick(hub)
    job = Job.objects.get()
    assert (job.status, job.absent_since, hub.submissions) == ("reserved", None, [])
    Job.objects.update(next_send_at=None)
    run_tick(hub)
    assert (Job.objects.get().status, len(hub.submissions), Dispatch.objects.count()) == ("sent", 1, 1)
