import json

import pytest
from django.core.management import CommandError, call_command

from dispatch.explain import explain
from dispatch.models import Dispatch, StageWorkers
from dispatch.tick import run_tick
from generation.commands import regenerate
from generation.commands.answers import Actor
from generation.models import Asset, JournalEntry, Task
from tests.doubles.pictures import deliver_all
from tests.factories.books import make_book

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = "2000-01-01T00:00:00Z"


@pytest.fixture
def task(actor) -> Task:
    regenerate.apply(regenerate.Request(make_book(scenes=1).pk, ("image",)), actor)
    return Task.objects.get()


def status(task):
    task.refresh_from_db()
    return task.status, task.reason


def test_a_stage_that_never_had_a_worker_blocks_at_once(hub, task):
    hub.worker_counts["image"] = 0
    run_tick(hub)
    assert status(task) == ("blocked", "no_worker:image")


def test_zero_workers_block_only_after_they_were_read_for_the_whole_grace(hub, task):
    hub.worker_counts["image"] = 1
    StageWorkers.objects.create(stage="image", seen_at=LONG_AGO)
    hub.worker_counts["image"] = 0
    run_tick(hub)
    assert status(task) == ("active", "")
    assert not Dispatch.objects.exists()
    StageWorkers.objects.filter(stage="image").update(absent_since=LONG_AGO)
    run_tick(hub)
    assert status(task) == ("blocked", "no_worker:image")


def test_a_worker_that_comes_back_within_the_grace_changes_nothing(hub, task):
    StageWorkers.objects.create(stage="image", seen_at=LONG_AGO, absent_since=LONG_AGO)
    run_tick(hub)
    assert StageWorkers.objects.get(stage="image").absent_since is None
    assert status(task) == ("active", "")
    assert Dispatch.objects.count() == 1


def test_workers_that_cannot_be_read_block_nothing_and_start_nothing(hub, task):
    hub.down = True
    report = run_tick(hub)
    assert status(task) == ("active", "")
    assert not Dispatch.objects.exists()
    assert "hub_unavailable" in [error["reason"] for error in report.errors]


def test_a_task_without_anything_to_start_is_not_blocked(hub, task):
    Asset.objects.update(deferred_until="2999-01-01T00:00:00Z")
    hub.worker_counts["image"] = 0
    run_tick(hub)
    assert status(task) == ("active", "")


def test_a_block_stops_nothing_that_runs(hub, actor, task):
    run_tick(hub)
    regenerate.apply(regenerate.Request(make_book(scenes=1).pk, ("image",)), actor)
    hub.worker_counts["image"] = 0
    StageWorkers.objects.filter(stage="image").update(absent_since=LONG_AGO)
    run_tick(hub)
    assert Dispatch.objects.get().status == Dispatch.Status.ACTIVE
    assert sorted(Task.objects.values_list("status", flat=True)) == ["active", "blocked"]


def test_a_blocked_task_is_never_retried_by_itself(hub, task):
    hub.worker_counts["image"] = 0
    run_tick(hub)
    hub.worker_counts["image"] = 2
    for _ in range(3):
        run_tick(hub)
    assert status(task) == ("blocked", "no_worker:image")
    assert not Dispatch.objects.exists()


def test_a_stage_whose_last_worker_finishes_gets_nothing_new_and_is_not_blocked(hub, task):
    run_tick(hub)
    deliver_all()
    regenerate.apply(regenerate.Request(make_book(scenes=1).pk, ("image",)), Actor("operator"))
    hub.drain({"image-1"})
    StageWorkers.objects.filter(stage="image").update(absent_since=LONG_AGO)
    run_tick(hub)
    row = StageWorkers.objects.get(stage="image")
    assert (row.count, row.draining, row.absent_since) == (0, 1, None)
    assert not Dispatch.objects.filter(status="active").exists()
    assert Task.objects.filter(status="blocked").count() == 0
    reason = explain(Asset.objects.get(stage="image", state="pending"))[0]
    assert (reason.reason, reason.numbers["draining"]) == ("no_worker", 1)


def test_a_rolling_restart_blocks_no_task(hub, task):
    hub.worker_counts["image"] = 2
    for name in ("image-1", "image-2"):
        hub.drain({name})
        run_tick(hub)
    hub.worker_counts["image"] = 0  # both have stopped
    run_tick(hub)
    hub.draining.clear()
    hub.worker_counts["image"] = 2
    run_tick(hub)
    assert status(task) == ("active", "")
    assert Dispatch.objects.filter(status="active").count() == 1


def test_draining_a_worker_that_does_not_live_tells_none_to_stop(monkeypatch, hub):
    monkeypatch.setattr("dispatch.management.commands.workers.hub_named", lambda _: hub)
    with pytest.raises(CommandError, match="No worker is called nobody"):
        call_command("workers", "--drain", "image-1", "nobody")
    assert hub.draining == set()


def test_the_command_lists_workers_and_drains_a_stage(monkeypatch, hub, capsys):
    monkeypatch.setattr("dispatch.management.commands.workers.hub_named", lambda _: hub)
    call_command("workers", "--drain-stage", "image", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["drained"] == ["image-1"]
    assert {worker["name"]: worker["is_draining"] for worker in told["workers"]} == {
        "audio-1": False,
        "image-1": True,
        "video-1": False,
    }
    assert JournalEntry.objects.get(event="worker_drained").reason == "image-1"
    hub.down = True
    with pytest.raises(CommandError, match="cannot be asked"):
        call_command("workers")


def test_the_admin_names_workers_and_circuits(admin_client, hub, monkeypatch):
    monkeypatch.setattr("dispatch.admin.records.hub_named", lambda _: hub)
    run_tick(hub)
    hub.drain({"image-1"})
    page = admin_client.get("/admin/dispatch/stageworkers/").content.decode()
    assert "image-1 waits, then stops" in page
    assert "closed" in page
