from datetime import timedelta

import pytest
from django.db.models.functions import Now

from dispatch.models import Dispatch
from dispatch.tick import run_tick
from generation.commands import priority
from generation.commands.regenerate import Scope
from generation.models import Asset, StageConfig
from tests.doubles.pictures import deliver_all
from tests.factories.books import make_book
from tests.flows.asking import ask

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def book(actor):
    StageConfig.objects.create(stage="image", quota=1)
    book = make_book(scenes=5)
    ask(book, actor)
    return book


def to_front(book, actor, position):
    scene = book.scenes.get(position=position)
    return priority.apply(priority.Request(book.pk, ("image",), Scope.SCENE, (scene.pk,)), actor)


def order(hub):
    """Return the positions in the order they are dispatched."""
    positions = []
    for _ in range(5):
        run_tick(hub)
        positions.append(Dispatch.objects.get(status="active").asset.position)
        deliver_all()
    return positions


def test_without_a_priority_it_is_the_reading_order(book, hub):
    assert order(hub) == [1, 2, 3, 4, 5]


def test_what_is_moved_to_the_front_comes_first_the_last_moved_before_all(book, actor, hub):
    assert to_front(book, actor, 4) == {"moved": 1, "skipped": {}}
    to_front(book, actor, 5)
    assert order(hub) == [5, 4, 1, 2, 3]


def test_the_front_is_before_what_has_aged(book, actor, hub):
    Asset.objects.filter(position=2).update(pending_since=Now() - timedelta(hours=2))
    to_front(book, actor, 4)
    assert order(hub) == [4, 2, 1, 3, 5]


def test_waiting_ten_minutes_is_one_step(book, actor, hub):
    to_front(book, actor, 4)
    Asset.objects.filter(position=5).update(pending_since=Now() - timedelta(minutes=21))
    assert order(hub) == [5, 4, 1, 2, 3]


def test_what_is_not_queued_is_named(book, actor):
    answer = priority.apply(priority.Request(book.pk), actor)
    assert answer == {"moved": 5, "skipped": {"not_queued": 10}}


def test_a_new_command_starts_without_the_old_priority(book, actor, hub):
    to_front(book, actor, 4)
    ask(book, actor, rebuild_all=True)
    assert order(hub) == [1, 2, 3, 4, 5]
