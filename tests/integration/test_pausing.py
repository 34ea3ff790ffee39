import pytest

from dispatch.models import Dispatch
from dispatch.tick import run_tick
from generation import gate
from generation.commands import pause, regenerate
from generation.commands.pause import Level, Request
from generation.models import LayerConfig, StageConfig, SystemConfig
from tests.doubles.pictures import deliver_all
from tests.factories.books import images_of, make_book
from tests.flows.asking import ask, states

pytestmark = pytest.mark.django_db(transaction=True)

LEVELS = {
    "system": lambda book, paused: Request(Level.SYSTEM, paused),
    "stage": lambda book, paused: Request(Level.STAGE, paused, stages=("image",)),
    "book": lambda book, paused: Request(Level.BOOK, paused, book.pk, why="lunch"),
    "stage of a book": lambda book, paused: Request(Level.BOOK, paused, book.pk, ("image",)),
}


@pytest.mark.parametrize("level", LEVELS)
def test_paused_work_does_not_start_and_what_runs_is_finished(level, actor, hub):
    book = make_book(scenes=6)
    ask(book, actor)
    run_tick(hub)
    running = Dispatch.objects.filter(status="active").count()
    assert pause.apply(LEVELS[level](book, True), actor) == {"changes": True, "queued": 6 - running}
    deliver_all()
    run_tick(hub)
    assert states(book) == ["ready"] * running + ["pending"] * (6 - running)
    assert gate.why_not_start(images_of(book)[-1].pk) == gate.PAUSED
    pause.apply(LEVELS[level](book, False), actor)
    run_tick(hub)
    assert Dispatch.objects.filter(status="active").count() == 6 - running


@pytest.mark.parametrize("level", LEVELS)
def test_a_command_given_while_paused_waits(level, actor, hub):
    book = make_book(scenes=1)
    pause.apply(LEVELS[level](book, True), actor)
    assert regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)["targets"] == 1
    run_tick(hub)
    assert (states(book), hub.submissions) == (["pending"], [])


def test_resuming_everything_does_not_resume_what_was_paused_by_itself(actor, hub):
    book = make_book(scenes=1)
    ask(book, actor)
    pause.apply(LEVELS["book"](book, True), actor)
    pause.apply(LEVELS["system"](book, True), actor)
    pause.apply(LEVELS["system"](book, False), actor)
    run_tick(hub)
    assert hub.submissions == []


def test_other_books_and_stages_go_on(actor, hub):
    book, other = make_book(scenes=1), make_book(scenes=1)
    ask(book, actor), ask(other, actor)
    pause.apply(LEVELS["book"](book, True), actor)
    pause.apply(Request(Level.STAGE, True, stages=("audio",)), actor)
    run_tick(hub)
    assert (states(book), states(other)) == (["pending"], ["generating"])


def test_who_paused_first_and_why_stays_and_nothing_to_do_is_an_answer(actor):
    book = make_book(scenes=1)
    pause.apply(LEVELS["book"](book, True), actor)
    again = pause.apply(Request(Level.BOOK, True, book.pk, why="dinner"), actor)
    assert again["changes"] is False
    assert set(LayerConfig.objects.values_list("paused_by", "paused_why")) == {("operator", "lunch")}
    pause.apply(LEVELS["book"](book, False), actor)
    assert set(LayerConfig.objects.values_list("paused_at", "paused_by", "paused_why")) == {(None, "", "")}
    assert pause.apply(LEVELS["book"](book, False), actor)["changes"] is False
    assert not SystemConfig.objects.exists()
    assert not StageConfig.objects.exists()
