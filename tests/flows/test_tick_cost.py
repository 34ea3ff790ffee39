from threading import Thread

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from dispatch.hubs.rq.hub import RqHub
from dispatch.models import Dispatch, Job, TickLease
from dispatch.tick import run_tick, settle, stop
from generation.commands import cancel_task, delete, regenerate
from generation.models import Asset, JournalEntry, Scene, Task
from tests.doubles.hub import staff
from tests.factories.books import make_book

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def always_staffed(monkeypatch):
    monkeypatch.setattr(RqHub, "workers", lambda self: staff(audio=1, image=1, video=1))


def cost_of_two_ticks(scenes, actor, empty_redis, round_trips) -> list[tuple[int, int]]:
    """Return (SQL statements, Redis round trips) of a tick that dispatches and of one that finds the quota in use."""
    Dispatch.objects.all().delete()
    empty_redis.flushdb()
    book = make_book(scenes=scenes)
    regenerate.apply(regenerate.Request(book.pk), actor)
    # Statistics are taken once after a large command, and old rows are looked for once a minute.
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE generation_asset, generation_target, generation_task")
    TickLease.objects.update(analysed_targets=3 * scenes, pruned_at=Now())
    costs = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as statements:
            trips = round_trips(run_tick)
        costs.append((len(statements), trips))
    assert Job.objects.filter(status=Job.Status.SENT, dispatch__stage="image").count() == 4
    delete.apply(delete.Request(delete.What.BOOK, (book.pk,)), actor)
    return costs


@pytest.mark.long
def test_a_tick_costs_the_same_for_20_and_for_2000_scenes(actor, empty_redis, round_trips, always_staffed):
    cost_of_two_ticks(20, actor, empty_redis, round_trips)  # scripts are loaded once per process
    few = cost_of_two_ticks(20, actor, empty_redis, round_trips)
    assert cost_of_two_ticks(2000, actor, empty_redis, round_trips) == few


@pytest.mark.long
def test_statistics_are_taken_after_the_work_changed_by_half_and_not_again(actor, hub, always_staffed):
    book = make_book(scenes=500)
    regenerate.apply(regenerate.Request(book.pk), actor)
    analysed = []

    def note(execute, sql, params, many, context):
        analysed.extend([sql] if sql.startswith("ANALYZE") else [])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        for _ in range(3):
            run_tick(hub)
    assert len(analysed) == 1


@pytest.mark.parametrize("change", ["dependency", "stale"])
def test_settling_many_assets_takes_as_many_statements_as_few(change, actor, hub):
    run_tick(hub)  # makes its row
    counted = []
    for scenes in (5, 40):
        book = make_book(scenes=scenes)
        if change == "dependency":
            regenerate.apply(regenerate.Request(book.pk, ("image", "video")), actor)
            task = Task.objects.get(book=book, stage="image")
            cancel_task.apply(cancel_task.Request(task.pk), actor)
        else:
            placed = book.assets.filter(stage="image")
            for asset in placed:
                artifact = asset.artifacts.create(
                    version=1, dispatch_id=f"{asset.pk:032d}", content_version=0, audio_config_version=1
                )
                Asset.objects.filter(pk=asset.pk).update(state="ready", published=artifact)
            Scene.objects.filter(book=book).update(recheck=True)
        TickLease.objects.update(pruned_at=Now())
        with CaptureQueriesContext(connection) as statements:
            run_tick(hub)
        counted.append(len(statements))
        moved = Asset.objects.filter(book=book, state="failed" if change == "dependency" else "dirty")
        assert moved.filter(stage="video" if change == "dependency" else "image").count() == scenes
        event = "settled" if change == "dependency" else "marked_stale"
        assert JournalEntry.objects.filter(book_pk=book.pk, event=event).count() == scenes
    assert counted[0] == counted[1]


@pytest.mark.long
def test_statistics_are_taken_before_the_step_after_a_command_that_commits_during_a_tick(actor, hub, monkeypatch):
    book = make_book(scenes=400)
    run_tick(hub)
    real = stop.stop

    def stop_while_somebody_commands(run):
        real(run)
        commanding = Thread(target=lambda: (regenerate.apply(regenerate.Request(book.pk), actor), connection.close()))
        commanding.start()
        commanding.join()

    seen = []
    monkeypatch.setattr("dispatch.tick.stop.stop", stop_while_somebody_commands)
    monkeypatch.setattr("dispatch.tick.run._rung_since", lambda _: False)
    real_settle = settle.settle

    def note(run):
        seen.append(TickLease.objects.get().analysed_targets)
        real_settle(run)

    monkeypatch.setattr("dispatch.tick.settle.settle", note)
    run_tick(hub)
    assert seen == [1200]
