"""Windows that follow each other, and all that ends it."""

import pytest

from dispatch.tick import run_tick
from generation.commands import auto_next, cancel, cancel_task, delete, layers, regenerate
from generation.commands.regenerate import Request, Scope
from generation.models import Book, Command, LayerConfig, StageConfig, Target, Task
from tests.doubles.pictures import deliver_all
from tests.factories.accounts import operator_with
from tests.factories.books import make_book

pytestmark = pytest.mark.django_db(transaction=True)
SCENES = 5


@pytest.fixture
def operator():
    return operator_with("generation.operate_book")


@pytest.fixture
def book(operator):
    book = make_book(scenes=SCENES)
    auto_next.apply(auto_next.Request(book.pk, True), operator)
    regenerate.apply(Request(book.pk, ("image",), Scope.NEXT_WINDOW, count=2), operator)
    return book


def work(hub, rounds=1):
    for _ in range(rounds):
        run_tick(hub)
        deliver_all()
    run_tick(hub)


def asked(book):
    return sorted(Target.objects.filter(task__book=book).values_list("asset__position", flat=True))


def state(book):
    book = Book.objects.get(pk=book.pk)
    return book.auto_next_by is not None, book.auto_next_off_reason


@pytest.mark.long
def test_a_done_window_is_followed_by_the_next_in_the_name_of_the_operator(book, operator, hub):
    work(hub)
    first, second = Command.objects.filter(kind="regenerate").order_by("pk")
    assert (second.actor_name, second.key) == (operator.name, f"auto_next:{first.pk}")
    assert second.params == first.params
    assert asked(book) == [1, 2, 3, 4]


@pytest.mark.long
def test_it_ends_with_the_book_and_says_so(book, hub):
    work(hub, rounds=6)
    assert asked(book) == [1, 2, 3, 4, 5]
    assert state(book) == (False, "the book has no further scene to make")
    assert not Task.objects.filter(status__in=Task.LIVE).exists()


def test_without_it_nothing_follows(book, hub, operator):
    auto_next.apply(auto_next.Request(book.pk, False), operator)
    work(hub, rounds=3)
    assert asked(book) == [1, 2]


def test_it_waits_for_every_stage_of_the_window(operator, hub):
    book = make_book(scenes=SCENES)
    auto_next.apply(auto_next.Request(book.pk, True), operator)
    regenerate.apply(Request(book.pk, (), Scope.NEXT_WINDOW, count=1), operator)
    hub.worker_counts["audio"] = 0
    work(hub, rounds=3)
    assert asked(book) == [1, 1, 1]


def test_a_failed_scene_ends_it(book, hub):
    run_tick(hub)
    Target.objects.filter(asset__position=1).update(status=Target.Status.FAILED)
    deliver_all()
    run_tick(hub)
    assert asked(book) == [1, 2]
    assert state(book) == (False, "not every scene of the window was done: failed")


@pytest.mark.long
@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (lambda book, actor: cancel.apply(cancel.Request(book.pk), actor), "stopped by"),
        (lambda book, actor: cancel_task.apply(cancel_task.Request(Task.objects.get().pk), actor), "was cancelled by"),
        (lambda book, actor: layers.apply(layers.Request(book.pk, "image", False), actor), "was switched off by"),
    ],
)
def test_taking_the_window_back_ends_it(book, hub, actor, end, reason):
    run_tick(hub)
    end(book, actor)
    assert state(book)[0] is False
    assert reason in state(book)[1]
    work(hub, rounds=3)
    assert asked(book) == [1, 2]


def test_an_operator_who_may_not_any_more_ends_it(book, operator, hub):
    operator.user.is_active = False
    operator.user.save()
    work(hub)
    assert asked(book) == [1, 2]
    assert state(book) == (False, "The account ada is not active.")


def test_an_account_that_is_deleted_ends_it_with_the_reason(book, operator, hub):
    operator.user.delete()
    work(hub)
    assert asked(book) == [1, 2]
    assert state(book) == (False, "the account ada was deleted")


def test_it_never_lifts_a_tombstone(book, hub):
    run_tick(hub)
    deliver_all()
    LayerConfig.objects.set(book, ["image"], cancelled_at="2026-01-01T00:00:00Z")
    run_tick(hub)
    assert asked(book) == [1, 2]
    assert state(book) == (False, "the book was stopped")
    assert LayerConfig.objects.get(book=book, stage="image").cancelled_at is not None


def test_a_window_whose_scenes_were_deleted_ends_it(book, hub, actor):
    for scene in book.scenes.filter(position__lte=2):
        delete.apply(delete.Request(delete.What.SCENE, (scene.pk,)), actor)
    work(hub)
    assert asked(book) == []
    assert state(book) == (False, "its scenes were deleted")


@pytest.mark.long
def test_scenes_that_another_command_asked_for_end_it_and_it_says_so(book, hub, actor):
    regenerate.apply(Request(book.pk, ("image",)), actor)
    StageConfig.objects.create(stage="image", quota=2)
    work(hub)
    assert state(book) == (False, "another command has asked for the next scenes")


def test_a_regenerate_lifts_the_tombstone_of_every_stage_it_names(operator, hub, actor):
    book = make_book(scenes=2)
    cancel.apply(cancel.Request(book.pk), actor)
    regenerate.apply(Request(book.pk, ("image", "audio"), Scope.NEXT_WINDOW, count=1), operator)
    lifted = LayerConfig.objects.filter(book=book, cancelled_at__isnull=True)
    assert set(lifted.values_list("stage", flat=True)) == {"image", "audio"}
