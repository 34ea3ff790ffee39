import pytest

from generation.commands import cancel, layers, regenerate
from generation.exceptions import NotFound, UnknownStage
from generation.lifecycle import State
from generation.models import Asset, Command, JournalEntry, LayerConfig, Target, Task
from tests.factories.books import images_of, make_book

pytestmark = pytest.mark.django_db


def test_stop_all_writes_a_tombstone_and_takes_everything_asked_for_back(actor):
    book, other = make_book(scenes=2), make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    regenerate.apply(regenerate.Request(other.pk, ("image",)), actor)
    Asset.objects.filter(pk=images_of(book)[0].pk).update(state=State.GENERATING)
    assert cancel.plan(cancel.Request(book.pk)).answer() == {
        "queued": 1,
        "generating": 1,
        "stages": {"image": {"queued": 1, "generating": 1}},
    }
    cancel.apply(cancel.Request(book.pk), actor)
    assert LayerConfig.objects.filter(book=book, cancelled_at__isnull=False, cancelled_by="operator").count() == 3
    assert {asset.state for asset in images_of(book)} == {State.DIRTY}
    assert {asset.intent for asset in images_of(book)} == {2}
    assert Task.objects.get(book=book).status == Task.Status.CANCELLED
    assert set(Target.objects.filter(task__book=book).values_list("status", flat=True)) == {"cancelled"}
    assert images_of(other)[0].state == State.PENDING
    assert set(JournalEntry.objects.filter(event="cancel").values_list("change", flat=True)) == {
        "generating → dirty",
        "pending → dirty",
    }


def test_a_stop_of_one_stage_leaves_the_others(actor):
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk), actor)
    cancel.apply(cancel.Request(book.pk, ("audio",)), actor)
    assert dict(book.assets.values_list("stage", "state")) == {
        "audio": State.DIRTY,
        "image": State.PENDING,
        "video": State.PENDING,
    }


def test_stopping_what_stands_still_is_an_answer_and_keeps_finished_files(actor):
    book = make_book(scenes=1)
    assert cancel.apply(cancel.Request(book.pk), actor)["queued"] == 0
    assert set(book.assets.values_list("state", "intent")) == {(State.NEW, 0)}


def test_an_asset_with_a_history_of_targets_is_taken_back_once(actor):
    book = make_book(scenes=1)
    for _ in range(3):
        regenerate.apply(regenerate.Request(book.pk, ("image",), rebuild_all=True), actor)
    assert cancel.apply(cancel.Request(book.pk), actor)["queued"] == 1
    assert JournalEntry.objects.filter(event="cancel").count() == 1


def test_a_layer_off_takes_its_work_back_and_on_starts_nothing(actor):
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk), actor)
    assert layers.apply(layers.Request(book.pk, "image", enabled=False), actor) == {"changes": True, "taken_back": 1}
    assert images_of(book)[0].state == State.DIRTY
    assert layers.apply(layers.Request(book.pk, "image", enabled=True), actor) == {"changes": True, "taken_back": 0}
    assert images_of(book)[0].state == State.DIRTY
    assert LayerConfig.objects.get(stage="image").cancelled_at is None
    assert layers.plan(layers.Request(book.pk, "image", enabled=True)).answer()["changes"] is False


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda actor, book: cancel.apply(cancel.Request(999), actor), NotFound),
        (lambda actor, book: cancel.apply(cancel.Request(book.pk, ("smell",)), actor), UnknownStage),
        (lambda actor, book: layers.apply(layers.Request(999, "image", enabled=False), actor), NotFound),
        (lambda actor, book: layers.apply(layers.Request(book.pk, "smell", enabled=False), actor), UnknownStage),
    ],
)
def test_a_stop_or_switch_that_makes_no_sense_leaves_no_row(actor, act, error):
    book = make_book(scenes=1)
    with pytest.raises(error):
        act(actor, book)
    assert not Command.objects.exists()
    assert not LayerConfig.objects.exists()
