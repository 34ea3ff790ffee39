import pytest

from dispatch.models import Dispatch
from dispatch.tick import run_tick
from generation.commands import cancel_task, regenerate
from generation.commands.regenerate import Scope
from generation.models import Asset, LayerConfig, Target, Task
from tests.capacity import leases
from tests.doubles.pictures import deliver_all
from tests.factories.books import make_book
from tests.flows.asking import ask, image, states

pytestmark = pytest.mark.django_db(transaction=True)


def ask_scene(book, actor, position, **options):
    scene = book.scenes.get(position=position)
    request = regenerate.Request(book.pk, ("image",), Scope.SCENE, (scene.pk,), **options)
    return regenerate.apply(request, actor)["tasks"][0]


def test_only_its_own_open_targets_end(actor, hub):
    book = make_book(scenes=2)
    first, second = ask_scene(book, actor, 1), ask_scene(book, actor, 2)
    run_tick(hub)
    kept = Dispatch.objects.get(asset__position=2)
    answer = cancel_task.apply(cancel_task.Request(first), actor)
    assert (answer["was"], answer["queued"], answer["generating"]) == ("active", 0, 1)
    run_tick(hub)
    assert states(book) == ["dirty", "generating"]
    kept.refresh_from_db()
    assert kept.status == "active"
    assert set(leases("image").values()) == {kept.dispatch_id}
    assert not LayerConfig.objects.filter(cancelled_at__isnull=False).exists()
    assert Task.objects.get(pk=second).status == "active"


def test_what_a_newer_task_took_over_is_not_touched(actor, hub):
    book = make_book(scenes=1)
    old = ask_scene(book, actor, 1)
    ask_scene(book, actor, 1, rebuild_all=True)
    cancel_task.apply(cancel_task.Request(old), actor)
    run_tick(hub)
    assert states(book) == ["generating"]
    assert sorted(Target.objects.values_list("status", flat=True)) == ["open", "superseded"]


def test_a_task_that_has_ended_says_how_and_stays_as_it_is(actor, hub):
    book = make_book(scenes=1)
    task = ask_scene(book, actor, 1)
    run_tick(hub)
    deliver_all()
    run_tick(hub)
    answer = cancel_task.apply(cancel_task.Request(task), actor)
    assert answer == {"was": "completed", "queued": 0, "generating": 0, "stages": {}}
    assert (Task.objects.get().status, states(book)) == ("completed", ["ready"])


def test_a_blocked_task_can_be_cancelled(actor, hub):
    book = make_book(scenes=1)
    hub.worker_counts["image"] = 0
    task = ask_scene(book, actor, 1)
    run_tick(hub)
    assert cancel_task.apply(cancel_task.Request(task), actor)["was"] == "blocked"
    assert (Task.objects.get().status, states(book)) == ("cancelled", ["dirty"])


def test_an_asset_that_was_marked_dirty_under_its_target_is_not_made_again(actor, hub):
    book = make_book(scenes=1)
    ask(book, actor)
    run_tick(hub)
    Asset.objects.filter(pk=image().pk).update(state="dirty")
    cancel_task.apply(cancel_task.Request(Task.objects.get().pk), actor)
    for _ in range(3):
        run_tick(hub)
    assert (states(book), Dispatch.objects.filter(status="active").count()) == (["dirty"], 0)
