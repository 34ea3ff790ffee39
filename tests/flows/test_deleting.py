"""Scenario 44: rows go while work on them is in flight; the hub is cleared all the same."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dispatch.models import Dispatch, Job
from dispatch.tick import run_tick
from generation.commands import delete, regenerate
from generation.commands.answers import Actor
from generation.commands.delete import Request, What
from generation.exceptions import InvalidRequest
from generation.models import Artifact, Asset, Book, Chapter, Command, JournalEntry, Scene, Target, Task
from tests.capacity import leases
from tests.doubles.pictures import deliver, deliver_all, store_picture
from tests.factories.books import make_book
from tests.flows.asking import ask, send, states, stored_files

pytestmark = pytest.mark.django_db(transaction=True)

WHAT = {
    "scene": lambda book: Request(What.SCENE, (book.scenes.first().pk,)),
    "chapter": lambda book: Request(What.CHAPTER, (book.chapters.get().pk,)),
    "book": lambda book: Request(What.BOOK, (book.pk,)),
}


@pytest.fixture
def book(actor, hub):
    book = make_book(scenes=1)
    ask(book, actor)
    run_tick(hub)
    return book


@pytest.mark.long
@pytest.mark.parametrize("what", WHAT)
def test_the_hub_is_cleared_the_slot_freed_and_a_late_result_refused(what, book, actor, hub):
    dispatch = Dispatch.objects.get()
    files = store_picture(dispatch)
    assert delete.apply(WHAT[what](book), actor)["generating"] == 1
    assert Scene.objects.count() == Asset.objects.count() == 0
    late = send(dispatch, files)
    assert late.rejection == "stale_dispatch"
    run_tick(hub)
    dispatch.refresh_from_db()
    assert (dispatch.status, dispatch.asset_id, dispatch.book_key) == ("cancelled", None, book.key)
    assert (hub.jobs, leases("image"), stored_files()) == ({}, {}, [])
    assert set(Job.objects.values_list("status", flat=True)) == {"dropped"}
    for _ in range(3):
        run_tick(hub)
    assert Dispatch.objects.count() == 1


@pytest.mark.parametrize("what", WHAT)
def test_a_hub_that_is_away_is_cleared_when_it_is_back(what, book, actor, hub):
    hub.down = True
    delete.apply(WHAT[what](book), actor)
    run_tick(hub)
    assert Job.objects.get().status == "stopping"
    hub.down = False
    run_tick(hub)
    assert (Job.objects.get().status, hub.jobs) == ("dropped", {})


@pytest.mark.parametrize("what", WHAT)
def test_no_target_outlives_its_asset(what, book, actor):
    """The database does not check it."""
    kept = make_book(scenes=1)
    ask(kept, actor)
    ask(book, actor, rebuild_all=True)
    assert set(Target.objects.filter(task__book=book).values_list("status", flat=True)) == {"superseded", "open"}
    of_the_kept = set(Target.objects.filter(task__book=kept).values_list("pk", flat=True))
    delete.apply(WHAT[what](book), actor)
    assert set(Target.objects.values_list("pk", flat=True)) == of_the_kept


@pytest.mark.long
def test_finished_files_versions_and_tasks_go_and_the_journal_stays(book, actor, hub):
    deliver_all()
    run_tick(hub)
    assert delete.apply(Request(What.BOOK, (book.pk,)), actor) == {"scenes": 1, "files": 1, "generating": 0}
    assert not any(model.objects.exists() for model in (Book, Chapter, Scene, Asset, Artifact, Task))
    assert JournalEntry.objects.filter(event="delete", book_key=book.key).count() == 3
    command = Command.objects.get(kind="delete")
    assert (command.book, command.book_key) == (None, book.key)


@pytest.mark.long
def test_the_other_scenes_go_on_and_the_task_ends(actor, hub):
    book = make_book(scenes=3)
    ask(book, actor)
    run_tick(hub)
    delete.apply(WHAT["scene"](book), actor)
    run_tick(hub)
    deliver_all()
    run_tick(hub)
    assert states(book) == ["ready", "ready"]
    task = Task.objects.get()
    assert (task.status, task.counts) == ("completed", {"done": 2})


def test_a_deleted_task_leaves_nothing_queued_and_nothing_running(book, hub):
    Task.objects.all().delete()
    run_tick(hub)
    run_tick(hub)
    assert (states(book), hub.jobs, leases("image")) == (["dirty"], {}, {})
    assert Dispatch.objects.get().status == "cancelled"


def test_a_deleted_user_takes_no_work_along(hub):
    user = User.objects.create_superuser("eve")
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), Actor.of(user))
    run_tick(hub)
    user.delete()
    assert deliver(Dispatch.objects.get()).accepted
    command = Command.objects.get()
    assert (states(book), command.actor, command.actor_name) == (["ready"], None, "eve")


@pytest.mark.long
def test_a_book_with_the_same_key_is_a_new_one(book, actor, hub):
    old = Dispatch.objects.get()
    delete.apply(Request(What.BOOK, (book.pk,)), actor)
    again = make_book(scenes=1, key=book.key)
    ask(again, actor)
    run_tick(hub)
    assert send(old, store_picture(old)).rejection == "stale_dispatch"
    assert states(again) == ["generating"]
    deliver_all()
    assert states(again) == ["ready"]


def test_many_scenes_of_a_book_go_in_one_command_and_as_many_statements_as_one(actor):
    def statements(number):
        scenes = make_book(scenes=number + 1).scenes.order_by("position").values_list("pk", flat=True)
        with CaptureQueriesContext(connection) as queries:
            answer = delete.apply(Request(What.SCENE, tuple(scenes[:number])), actor)
        assert answer["scenes"] == number
        return len(queries)

    statements(1)  # makes the ring's row
    assert statements(1) == statements(50)
    assert Scene.objects.count() == 3


def test_scenes_of_two_books_are_refused(actor):
    pks = tuple(make_book(scenes=1).scenes.get().pk for _ in range(2))
    with pytest.raises(InvalidRequest, match="these are of 2"):
        delete.apply(Request(What.SCENE, pks), actor)
    assert Scene.objects.count() == 2
