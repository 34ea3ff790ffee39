import pytest

from dispatch.models import Dispatch, StageWorkers
from dispatch.tick import run_tick
from generation.commands import regenerate
from generation.models import Asset, Task
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
