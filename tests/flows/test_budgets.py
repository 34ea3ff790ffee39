"""Budgets of retries: who waits for one, who never does, and that each unit is spent once."""

import pytest
from django.db import OperationalError

from dispatch.capacity import keys
from dispatch.capacity.admission import Verdict, Wish, admit_leases
from dispatch.capacity.leases import Claim, Fence, sync_leases
from dispatch.capacity.scripts import client, server_time_s
from dispatch.capacity.snapshot import Circuit, read_stage
from dispatch.explain import explain
from dispatch.failures import Failure
from dispatch.models import Dispatch, Job
from dispatch.results import finalise
from dispatch.results import release as releasing
from dispatch.results.accept import accept_error, claim
from dispatch.tick import run_tick
from generation.models import Asset, JournalEntry, Scene, StageConfig
from generation.stages import STAGES, StageName
from tests.capacity import leases
from tests.doubles.pictures import deliver, deliver_all
from tests.factories.books import images_of, make_book
from tests.flows.asking import ask
from tests.flows.failing import active, clock, fail  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_failure_names_its_type_and_its_worker_for_the_budgets(actor, hub):
    ask(make_book(scenes=1), actor)
    run_tick(hub)
    job = Job.objects.get()
    claim(job.dispatch.dispatch_id, job.job_id, "w1")
    fail(active().get(), "out_of_memory")
    asset = Asset.objects.get(stage="image")
    assert (asset.retry_type, asset.retry_worker) == ("infrastructure", "w1")
    Asset.objects.update(deferred_until=None)
    run_tick(hub)
    standing = read_stage("image")
    assert (standing.retries, standing.workers) == ({"infrastructure": 1}, {"w1": 1})
    ask(asset.book, actor, rebuild_all=True)
    asset.refresh_from_db()
    assert (asset.retry_type, asset.retry_worker) == ("", "")


@pytest.mark.long
@pytest.mark.parametrize(
    "limit", [{"retries_by_type": {"transient": 2}}, {"retries_of_worker": 2}, {"retries_of_all": 2}], ids=str
)
def test_retries_without_a_budget_wait_and_first_attempts_behind_them_go_on(limit, actor, hub, settings):
    settings.ANIMASTOR = settings.ANIMASTOR | limit | {"circuit_failures": 1000}
    book = make_book(scenes=30)
    ask(book, actor)
    Asset.objects.filter(position__lte=20).update(retry_type="transient", retry_worker="w1", retries_left=9)
    run_tick(hub)
    assert [dispatch.asset.position for dispatch in active()] == [1, 2]
    deliver_all()
    run_tick(hub)
    assert [dispatch.asset.position for dispatch in active()] == [21, 22, 23, 24]
    reasons = {reason.reason: reason.numbers for reason in explain(images_of(book)[4])}
    assert reasons["retry_budget_exceeded"]["type"] == "transient"


@pytest.mark.long
def test_52_budgets_refill_while_failures_go_on(actor, hub, clock, settings):
    settings.ANIMASTOR = settings.ANIMASTOR | {"circuit_failures": 1000, "retries_by_type": {"transient": 3}}
    ask(make_book(scenes=4), actor)
    Asset.objects.update(retries_left=1000)
    retried = []
    for _ in range(40):
        clock.forward(60)
        Asset.objects.update(deferred_until=None)
        retried.append(run_tick(hub).dispatched)
        for dispatch in active():
            fail(dispatch)
    assert all(sum(retried[begin : begin + 5]) >= 3 for begin in range(5, 35))
    assert all(sum(retried[begin : begin + 5]) <= 3 for begin in range(5, 35))


@pytest.mark.long
def test_52_fifty_failures_of_one_stage_do_not_refuse_the_first_dispatch_of_another(actor, hub, clock):
    failing, other = make_book(scenes=60), make_book(scenes=1)
    StageConfig.objects.create(stage="audio", quota=60)
    ask(failing, actor, "audio")
    run_tick(hub)
    for dispatch in active()[:50]:
        fail(dispatch)
    assert read_stage("audio").circuit == Circuit.OPEN
    ask(other, actor, "image")
    assert run_tick(hub).dispatched == 1


@pytest.mark.long
def test_38_one_scene_that_fails_five_times_blocks_nobody_silently(actor, hub, clock, settings):
    settings.ANIMASTOR = settings.ANIMASTOR | {"backoff_most": settings.ANIMASTOR["tick_interval"]}
    poisoned, other = make_book(scenes=1), make_book(scenes=3)
    ask(poisoned, actor)
    while read_stage("image").circuit == Circuit.CLOSED:
        run_tick(hub)
        fail(active().get())
        clock.forward(6)
    ask(other, actor)
    assert run_tick(hub).dispatched == 0
    reason = explain(images_of(other)[0])[0]
    assert reason.reason == "circuit_open"
    assert reason.numbers["since_s"] >= 6
    assert 0 < reason.numbers["next_test_s"] <= 54
    clock.forward(60)
    run_tick(hub)
    assert {dispatch.book_pk for dispatch in active()} == {other.pk}
    deliver_all()
    run_tick(hub)
    assert read_stage("image").circuit == Circuit.CLOSED
    assert len(active()) == 2


@pytest.mark.long
def test_38_one_poisoned_scene_of_a_hundred_leaves_the_others_dispatched_in_the_same_tick(actor, hub):
    StageConfig.objects.create(stage="image", quota=100)
    ask(make_book(scenes=100), actor)
    Asset.objects.filter(position=1).update(state="pending", retries_left=0)
    run_tick(hub)
    fail(active()[0])
    assert run_tick(hub).errors == []
    assert len(active()) == 99


@pytest.mark.long
def test_54_a_thousand_refusals_without_capacity_add_no_key_and_no_row(actor, hub, clock):
    StageConfig.objects.create(stage="image", quota=1)
    ask(make_book(scenes=3), actor)
    run_tick(hub)

    def everything():
        rows = [model.objects.count() for model in (Dispatch, Job, Asset, JournalEntry)]
        sizes = {"zset": client().zcard, "hash": client().hlen, "string": client().exists}
        found = client().scan_iter("{animastor}:*")
        return rows, {key: sizes[client().type(key)](key) for key in found}

    before = everything()
    wishes = [Wish(Claim(1000 + number, "d"), "transient", "w1") for number in range(10)]
    fence = Fence(10_000, clock.now.timestamp() + 10_000)
    for _ in range(100):
        assert set(admit_leases(STAGES[StageName.IMAGE], fence, 1, 1, wishes)) == {Verdict.BACKPRESSURE}
    assert everything() == before
    client().set(keys.FENCE, 0)
    for _ in range(30):
        clock.forward(5)
        report = run_tick(hub)
    assert everything() == before
    assert (report.dispatched, report.errors, report.total_active) == (0, [], 3)


def test_a_retry_whose_tick_died_before_it_became_a_dispatch_gives_its_unit_back(actor, hub):
    ask(make_book(scenes=1), actor)
    Asset.objects.update(retry_type="transient", retries_left=9)
    run_tick(hub)
    fence = Fence(10_000, server_time_s() + 60)
    admit_leases(STAGES[StageName.IMAGE], fence, 9, 0, [Wish(Claim(12345, "neverborn"), "transient")])
    client().set(keys.FENCE, 0)
    assert read_stage("image").retries == {"transient": 2}
    run_tick(hub)
    assert read_stage("image").retries == {"transient": 1}
    assert set(leases("image")) == {active().get().asset_pk}


def test_a_retry_that_ran_keeps_its_unit_spent_though_its_lease_came_back_for_a_moment(actor, hub):
    ask(make_book(scenes=1), actor)
    Asset.objects.update(retry_type="transient", retries_left=9)
    run_tick(hub)
    dispatch = active().get()
    claim_of = [Claim(dispatch.asset_pk, dispatch.dispatch_id)]
    fail(dispatch)
    sync_leases(STAGES[StageName.IMAGE], Fence(10_000, server_time_s() + 60), claim_of)
    client().set(keys.FENCE, 0)
    run_tick(hub)
    assert (leases("image"), read_stage("image").retries) == ({}, {"transient": 1})


def test_of_two_claims_of_one_asset_the_live_dispatch_keeps_the_lease(actor, hub):
    ask(make_book(scenes=1), actor)
    run_tick(hub)
    first = active().get()
    fail(first)
    Asset.objects.update(deferred_until=None)
    run_tick(hub)
    second = active().get()
    Dispatch.objects.filter(pk=first.pk).update(release_due=True)
    run_tick(hub)
    assert leases("image") == {second.asset_pk: second.dispatch_id}


def test_only_the_worker_that_failed_it_is_charged_with_a_retry(actor, hub):
    ask(make_book(scenes=1), actor)
    run_tick(hub)
    dispatch = active().get()
    claim(dispatch.dispatch_id, dispatch.jobs.get().job_id, "w1")
    Job.objects.create(
        dispatch=dispatch,
        asset_pk=dispatch.asset_pk,
        unit="other",
        order=2,
        job_id="other",
        envelope={},
        digest="",
        timeout_s=600,
        worker="w2",
    )
    accept_error(dispatch.dispatch_id, "other", "", Failure("render_failed"))
    assert Asset.objects.get(stage="image").retry_worker == "w2"
    assert finalise._worker_of(dispatch, None) == ""


def test_an_end_that_was_committed_counts_though_postgresql_goes_away_right_after_it(actor, hub, monkeypatch):
    ask(make_book(scenes=1), actor)
    run_tick(hub)
    dispatch = active().get()

    def gone(*_, **__):
        raise OperationalError("the connection is closed")

    with monkeypatch.context() as broken:
        broken.setattr(releasing, "release_lease", gone)
        assert deliver(dispatch).accepted
    assert leases("image") != {}
    run_tick(hub)
    assert (leases("image"), Asset.objects.get(stage="image").state) == ({}, "ready")


def test_a_good_render_of_an_older_text_is_no_failure_to_be_retried(actor, hub):
    ask(make_book(scenes=1), actor)
    run_tick(hub)
    fail(active().get())
    Asset.objects.update(deferred_until=None)
    run_tick(hub)
    assert Asset.objects.get(stage="image").retry_type == "transient"
    Scene.objects.update(text="The sea was calm.", content_version=2)
    deliver(active().get())
    assert Asset.objects.get(stage="image").retry_type == ""
