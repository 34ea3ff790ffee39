from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models.functions import Now

from dispatch.models import Dispatch, Job, Part, TickLease, TickReport
from dispatch.retention import OLD, prune
from dispatch.tick import run_tick
from generation import store
from generation.commands import cancel
from generation.models import Artifact, Command, JournalEntry, Target, Task
from tests.doubles.pictures import deliver_all
from tests.factories.books import make_book
from tests.flows.asking import ask, states

pytestmark = pytest.mark.django_db(transaction=True)

COLUMNS = {
    "journal": (JournalEntry, "at", 7),
    "reports": (TickReport, "created_at", 7),
    "dispatches": (Dispatch, "ended_at", 30),
    "commands": (Command, "created_at", 90),
    "parts": (Part, "created_at", 30),
}


@pytest.fixture
def book(actor, hub):
    book = make_book(scenes=2)
    ask(book, actor)
    run_tick(hub)
    deliver_all()
    run_tick(hub)
    for asset in book.assets.filter(stage="audio"):
        file = store.save(asset.pk, "0" * 32, "0001", "main", "audio/flac", b"a part that nobody joined")
        Part.objects.create(asset=asset, unit="0001", fingerprint="f", files={"main": file.as_json()})
    return book


def age(kind, **by):
    model, column, _ = COLUMNS[kind]
    model.objects.update(**{column: Now() - timedelta(**by)})


def test_every_kind_has_its_time():
    assert set(COLUMNS) == set(OLD)


@pytest.mark.parametrize("kind", COLUMNS)
def test_rows_stay_for_their_time_and_go_after_it(kind, book):
    model, _, days = COLUMNS[kind]
    number = model.objects.count()
    assert number
    age(kind, days=days, minutes=-1)
    assert prune()[kind] == 0
    age(kind, days=days, minutes=1)
    assert prune()[kind] == number
    assert not model.objects.exists()


@pytest.mark.parametrize("kind", COLUMNS)
def test_they_go_in_batches(kind, book, settings):
    settings.ANIMASTOR = {"prune_batch": 1}
    age(kind, days=365)
    assert prune()[kind] == 1


def test_published_pictures_outlive_what_made_them(book, actor, hub):
    for kind in COLUMNS:
        age(kind, days=365)
    prune()
    assert (Artifact.objects.count(), Task.objects.count(), Target.objects.count()) == (2, 0, 0)
    assert states(book) == ["ready", "ready"]
    assert ask(book, actor)["stages"]["image"]["skipped"] == {"ready": 2}


def test_the_files_of_parts_go_with_them(book):
    names = [part.files["main"]["name"] for part in Part.objects.all()]
    book.assets.filter(stage="audio").first().parts.update(asset=None)
    with transaction.atomic():
        assert prune()["parts"] == 1
    assert [store.storage().exists(name) for name in names] == [False, True]


def test_a_command_with_a_task_that_runs_stays(actor, hub):
    ask(make_book(scenes=1), actor)
    age("commands", days=365)
    assert prune()["commands"] == 0
    assert Task.objects.get().status == "active"


def test_a_dispatch_that_the_hub_still_has_to_drop_stays(actor, hub):
    book = make_book(scenes=1)
    ask(book, actor)
    run_tick(hub)
    cancel.apply(cancel.Request(book.pk), actor)
    hub.down = True
    run_tick(hub)
    assert Job.objects.get().status == "stopping"
    age("dispatches", days=365)
    assert prune()["dispatches"] == 0


@pytest.mark.long
def test_the_tick_prunes_once_a_minute(book, hub):
    age("journal", days=8)
    number = JournalEntry.objects.count()
    run_tick(hub)
    assert JournalEntry.objects.count() == number
    TickLease.objects.update(pruned_at=Now() - timedelta(minutes=2))
    run_tick(hub)
    assert JournalEntry.objects.count() == 0
