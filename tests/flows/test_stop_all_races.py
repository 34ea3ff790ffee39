"""Stop all against everything that brings a picture closer: 1 040 interleavings (13 × 4 rounds of twenty books)."""

import random
import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F

from dispatch.models import Dispatch, Job
from dispatch.tick import run_tick
from generation.commands import cancel
from generation.lifecycle import State
from generation.models import Asset, Command, JournalEntry, LayerConfig, StageConfig, Target, Task
from tests.capacity import leases
from tests.doubles.hub import FakeHub
from tests.doubles.pictures import deliver
from tests.factories.books import make_book
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)

BOOKS = 20
ROUNDS = 4
SEEDS = range(13)
# How long a tick over the books takes, roughly: the stops are spread over it.
SPREAD_S = 0.5


def stop_one_by_one(books, actor, barrier, seed):
    chance = random.Random(seed)  # noqa: S311 - spreads the stops, guards nothing
    barrier.wait()
    for book in chance.sample(books, len(books)):
        threading.Event().wait(chance.random() * SPREAD_S / len(books) * 2)
        cancel.apply(cancel.Request(book.pk), actor)
    connection.close()


def fast_worker(envelope):
    """Render at once, inside the submit call, in the hub's thread."""
    deliver(Dispatch.objects.get(dispatch_id=envelope.ref.dispatch_id))
    connection.close()


def ask_for_pictures(books):
    """Do to the record what a regenerate of each book's picture does, in a few statements for all books."""
    LayerConfig.objects.update(cancelled_at=None)
    assets = Asset.objects.filter(book__in=books, stage="image")
    assets.update(state=State.PENDING, intent=F("intent") + 1)
    commands = Command.objects.bulk_create(
        Command(kind="regenerate", book=book, book_key=book.key, params={}, answer={}) for book in books
    )
    tasks = [Task(command=command, book=command.book, stage="image") for command in commands]
    by_book = {task.book_id: task for task in Task.objects.bulk_create(tasks)}
    Target.objects.bulk_create(
        Target(task=by_book[asset.book_id], asset=asset, intent=asset.intent) for asset in assets
    )


def assert_stopped(books, hub):
    events = {}
    for entry in JournalEntry.objects.order_by("pk"):
        events.setdefault(entry.asset_pk, []).append(entry.event)
    succeeded = set(Dispatch.objects.filter(status="succeeded").values_list("asset", "intent"))
    for asset in Asset.objects.filter(book__in=books, stage="image"):
        if asset.state == State.READY:
            # Published before its book was stopped: the stop found it finished and left it alone.
            assert events[asset.pk] == ["finalised"]
            assert (asset.pk, asset.intent) in succeeded
        else:
            assert asset.state == State.DIRTY
            assert events[asset.pk] == ["cancel"]
    assert not Target.objects.filter(status=Target.Status.OPEN).exists()
    assert not Dispatch.objects.filter(status=Dispatch.Status.ACTIVE).exists()
    assert not Job.objects.filter(status__in=[*Job.AT_HUB, Job.Status.STOPPING]).exists()
    assert leases("image") == {}
    live = {ref.dispatch_id for ref in hub.jobs}
    assert not live & set(Dispatch.objects.exclude(status="succeeded").values_list("dispatch_id", flat=True))


@pytest.mark.parametrize("seed", sampled(SEEDS, keep=1))
def test_a_stop_all_wins_against_select_prepare_submit_and_finalise(seed, actor, settings):
    settings.ANIMASTOR = {"ring_gap": timedelta(0)}
    StageConfig.objects.create(stage="image", quota=BOOKS)
    books = [make_book(scenes=1) for _ in range(BOOKS)]
    endings = set()
    for number in range(ROUNDS):
        hub = FakeHub()
        hub.on_submit = fast_worker if number % 2 else None
        ask_for_pictures(books)
        barrier = threading.Barrier(2)
        stopper = threading.Thread(target=stop_one_by_one, args=(books, actor, barrier, seed * ROUNDS + number))
        stopper.start()
        barrier.wait()
        run_tick(hub)
        for dispatch in Dispatch.objects.filter(status=Dispatch.Status.ACTIVE):
            deliver(dispatch)
        stopper.join()
        run_tick(hub)
        assert_stopped(books, hub)
        endings |= set(Asset.objects.filter(stage="image").values_list("state", flat=True))
        JournalEntry.objects.all().delete()
        Dispatch.objects.all().delete()
    assert endings == {State.READY, State.DIRTY}
