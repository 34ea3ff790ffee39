from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from dispatch.failures import Failure
from dispatch.models import Dispatch
from dispatch.results.accept import accept_error
from dispatch.tick import run_tick
from generation.commands import priority
from generation.commands.regenerate import Scope
from generation.models import Asset, Scene, StageConfig
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


@pytest.mark.long
def test_without_a_priority_it_is_the_reading_order(book, hub):
    assert order(hub) == [1, 2, 3, 4, 5]


@pytest.mark.long
def test_what_is_moved_to_the_front_comes_first_the_last_moved_before_all(book, actor, hub):
    assert to_front(book, actor, 4) == {"moved": 1, "skipped": {}}
    to_front(book, actor, 5)
    assert order(hub) == [5, 4, 1, 2, 3]


@pytest.mark.long
def test_the_front_is_before_what_has_aged(book, actor, hub):
    Asset.objects.filter(position=2).update(pending_since=Now() - timedelta(hours=2))
    to_front(book, actor, 4)
    assert order(hub) == [4, 2, 1, 3, 5]


@pytest.mark.long
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


def fail_once(actor, hub, position):
    """Let the asset be dispatched, and fail; ten minutes and more pass before it is retried."""
    run_tick(hub)
    dispatch = Dispatch.objects.get(status="active")
    assert dispatch.asset.position == position
    accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", Failure("render_failed"))
    Asset.objects.update(pending_since=F("pending_since") - timedelta(minutes=25), deferred_until=None)


@pytest.mark.long
def test_a_retry_keeps_its_place_in_reading_order(book, actor, hub):
    fail_once(actor, hub, 1)
    assert order(hub) == [1, 2, 3, 4, 5]


@pytest.mark.long
def test_a_retry_keeps_its_place_at_the_front(book, actor, hub):
    to_front(book, actor, 4)
    fail_once(actor, hub, 4)
    assert order(hub) == [4, 1, 2, 3, 5]


@pytest.mark.long
def test_what_is_queued_again_after_an_edit_keeps_its_place(book, actor, hub):
    run_tick(hub)
    Asset.objects.update(pending_since=F("pending_since") - timedelta(minutes=25))
    Scene.objects.filter(position=1).update(text="The sea was calm.", content_version=2)
    deliver_all()
    assert order(hub) == [1, 2, 3, 4, 5]


@pytest.mark.long
def test_the_front_is_before_what_has_waited_for_a_year(book, actor, hub):
    Asset.objects.filter(position__lt=5).update(pending_since=Now() - timedelta(days=400))
    to_front(book, actor, 5)
    assert order(hub) == [5, 1, 2, 3, 4]
