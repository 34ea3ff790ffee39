"""The circuit of a stage: what opens it, what tests it, and that every end of a test is heard."""

import re

import pytest
from django.core.management import call_command

from dispatch.capacity import keys
from dispatch.capacity.leases import Told
from dispatch.capacity.scripts import CapacityUnavailable, client
from dispatch.capacity.snapshot import Circuit, read_stage
from dispatch.hubs.base import HubUnavailable, SubmissionUnknown
from dispatch.models import Dispatch
from dispatch.results import release as releasing
from dispatch.tick import run_tick
from generation.commands import cancel, reset_circuit
from generation.models import Asset, JournalEntry, StageConfig
from tests.capacity import leases
from tests.doubles.pictures import deliver
from tests.factories.books import images_of, make_book
from tests.flows.asking import ask, states
from tests.flows.failing import active, clock, fail, open_circuit  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_open_circuit_lets_nothing_start_says_so_and_costs_nobody_anything(open_circuit, hub, clock):
    clock.forward(20)
    report = run_tick(hub)
    assert report.dispatched == 0
    assert {error["reason"] for error in report.errors} == {"circuit_open"}
    assert {asset.refusal_count for asset in images_of(open_circuit)} == {0}
    assert set(states(open_circuit)) == {"pending"}


def test_the_log_of_a_tick_says_it_in_one_line(open_circuit, hub, clock, monkeypatch, capsys):
    monkeypatch.setattr("dispatch.tick.run.hub_named", lambda _: hub)
    clock.forward(20)
    call_command("tick")
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "circuit_open" in line]
    assert re.fullmatch(r"  circuit_open  asset \d+, \d+, \d+ and \d+ more", line)


@pytest.mark.long
def test_14_an_hour_of_an_open_circuit_adds_one_journal_row(open_circuit, hub, clock, settings):
    before = JournalEntry.objects.count()
    for _ in range(60):
        client().hset(keys.circuit("image"), "opened", clock.now.timestamp())
        clock.forward(59)
        assert run_tick(hub).dispatched == 0
    assert JournalEntry.objects.count() == before
    assert JournalEntry.objects.filter(event="circuit_opened", reason="image").count() == 1


@pytest.mark.long
def test_tests_take_what_has_not_failed_whatever_the_reading_order(open_circuit, hub, clock):
    clock.forward(61)
    report = run_tick(hub)
    assert [dispatch.asset.position for dispatch in active()] == [6, 7]
    assert report.errors == [
        {"reason": "half_open_limit", "asset": error["asset"], "message": ""} for error in report.errors
    ]


@pytest.mark.long
def test_where_everything_has_failed_a_retry_is_the_test(open_circuit, hub, clock, actor):
    Asset.objects.filter(position__gt=5).update(retry_type="transient")
    clock.forward(61)
    run_tick(hub)
    assert len(active()) == 2


@pytest.mark.long
def test_a_good_test_lets_everything_go_on(open_circuit, hub, clock):
    clock.forward(61)
    run_tick(hub)
    deliver(active()[0])
    assert JournalEntry.objects.filter(event="circuit_closed").count() == 1
    run_tick(hub)
    assert len(active()) == 5


@pytest.mark.long
@pytest.mark.parametrize("end", ["stopped", "hub away", "failed for good", "deleted"])
def test_13_every_way_a_test_ends_frees_its_permit(open_circuit, hub, clock, actor, end):
    clock.forward(61)
    match end:
        case "hub away":
            hub.answers = [HubUnavailable("away")] * 2
            run_tick(hub)
        case "stopped":
            run_tick(hub)
            cancel.apply(cancel.Request(open_circuit.pk), actor)
            run_tick(hub)
        case "failed for good":
            run_tick(hub)
            for dispatch in active():
                fail(dispatch, "nothing_to_render")
        case "deleted":
            run_tick(hub)
            open_circuit.delete()
            run_tick(hub)
    clock.forward(61)
    assert read_stage("image").tests == 0
    assert leases("image") == {}


@pytest.mark.long
def test_a_hub_that_takes_nothing_opens_the_circuit_without_a_retry_spent(actor, hub, clock):
    book = make_book(scenes=9)
    ask(book, actor)
    hub.answers = [HubUnavailable("away")] * 100
    for _ in range(3):
        run_tick(hub)
        clock.forward(5)
    assert read_stage("image").circuit == Circuit.OPEN
    assert {asset.retries_left for asset in images_of(book)} == {10}


def test_36_a_success_while_the_circuit_is_open_leaves_it_open(actor, hub, clock):
    StageConfig.objects.create(stage="image", quota=6)
    ask(make_book(scenes=8), actor)
    run_tick(hub)
    late, *others = active()
    for dispatch in others:
        fail(dispatch)
    assert deliver(late).accepted
    clock.forward(30)
    assert read_stage("image").circuit == Circuit.OPEN


def test_an_end_that_redis_did_not_hear_is_told_by_the_next_tick_once(actor, hub, clock, monkeypatch):
    StageConfig.objects.create(stage="image", quota=6)
    ask(make_book(scenes=6), actor)
    run_tick(hub)

    def away(*_, **__):
        raise CapacityUnavailable("Redis is away")

    with monkeypatch.context() as broken:
        broken.setattr(releasing, "release_lease", away)
        for dispatch in active()[:5]:
            fail(dispatch)
    assert (len(leases("image")), read_stage("image").circuit) == (6, Circuit.CLOSED)
    assert Dispatch.objects.filter(release_due=True).count() == 5
    run_tick(hub)
    assert (len(leases("image")), read_stage("image").circuit) == (1, Circuit.OPEN)
    assert not Dispatch.objects.filter(release_due=True).exists()
    told = []
    monkeypatch.setattr(releasing, "release_lease", lambda *args: told.append(args) or (False, ""))
    run_tick(hub)
    assert told == []


@pytest.mark.long
def test_the_result_of_a_test_that_redis_did_not_hear_still_closes_the_circuit(open_circuit, hub, clock, monkeypatch):
    clock.forward(61)
    run_tick(hub)
    real = releasing.release_lease

    def lost(stage, claim, end):
        assert end.told == Told.SUCCESS
        raise CapacityUnavailable("Redis is away")

    monkeypatch.setattr(releasing, "release_lease", lost)
    deliver(active()[0])
    monkeypatch.setattr(releasing, "release_lease", real)
    run_tick(hub)
    assert read_stage("image").circuit == Circuit.CLOSED


def test_an_operators_reset_is_obeyed_by_the_next_tick_and_told_in_the_journal(open_circuit, hub, actor, clock):
    reset_circuit.apply(reset_circuit.Request("image"), actor)
    run_tick(hub)
    assert len(active()) == 4  # the other five wait for their retry
    entry = JournalEntry.objects.get(event="circuit_reset")
    assert (entry.reason, entry.actor) == ("image", actor.name)


@pytest.mark.long
def test_a_test_that_nobody_ever_heard_of_ends_after_its_time_and_frees_its_permit(open_circuit, hub, clock):
    clock.forward(61)
    hub.answers = [SubmissionUnknown("no answer")] * 1000
    for _ in range(100):
        run_tick(hub)
        clock.forward(60)
    assert Dispatch.objects.filter(reason="worker_timeout").exists()
    assert read_stage("image").tests <= 2
    assert JournalEntry.objects.filter(event="circuit_opened").count() == 1
