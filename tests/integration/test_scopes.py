import pytest

from generation.commands import layers, regenerate
from generation.commands.regenerate import Request, Scope
from generation.lifecycle import State
from generation.models import Asset, Scene, Target
from tests.factories.books import BookFactory, ChapterFactory, images_of, make_book

pytestmark = pytest.mark.django_db


def asked_positions(answer_tasks):
    targets = Target.objects.filter(task__in=answer_tasks).order_by("asset__position")
    return list(targets.values_list("asset__position", flat=True))


def window(book, actor, count=3, stages=("image",)):
    return regenerate.apply(Request(book.pk, stages, Scope.NEXT_WINDOW, count=count), actor)


def make_ready(book, positions):
    for asset in book.assets.filter(stage="image", position__in=positions):
        artifact = asset.artifacts.create(
            version=1, dispatch_id=f"{asset.pk:032d}", content_version=1, audio_config_version=1
        )
        Asset.objects.filter(pk=asset.pk).update(state=State.READY, published=artifact)


def test_from_scene_asks_for_that_scene_and_all_after_it(actor):
    book = make_book(scenes=5)
    start = book.scenes.get(position=3)
    answer = regenerate.apply(Request(book.pk, ("image",), Scope.FROM_SCENE, (start.pk,)), actor)
    assert asked_positions(answer["tasks"]) == [3, 4, 5]


def test_a_chapter_is_its_own_scenes(actor):
    book = make_book(scenes=2)
    second = ChapterFactory(book=book)
    scene = Scene.objects.create(book=book, chapter=second, number=1, position=3, text="Night.")
    Asset.objects.create(book=book, scene=scene, stage="image", position=3)
    answer = regenerate.apply(Request(book.pk, ("image",), Scope.CHAPTER, (second.pk,)), actor)
    assert asked_positions(answer["tasks"]) == [3]


def test_a_window_is_the_next_scenes_in_reading_order_that_are_not_ready(actor):
    book = make_book(scenes=8)
    make_ready(book, [1, 2, 4])
    assert asked_positions(window(book, actor)["tasks"]) == [3, 5, 6]


def test_a_window_never_moves_past_a_scene_that_was_not_done(actor):
    book = make_book(scenes=6)
    make_ready(book, [1, 3])
    book.assets.filter(stage="image", position=2).update(state=State.FAILED)
    assert asked_positions(window(book, actor, count=2)["tasks"]) == [2, 4]
    # Still on its way: the next window is the same one, and has nothing to add.
    answer = window(book, actor, count=2)
    assert (answer["targets"], answer["stages"]["image"]["skipped"]) == (0, {"already_queued": 2})


def test_a_window_passes_over_scenes_without_a_word_and_layers_that_are_off(actor):
    book = make_book(scenes=4)
    book.scenes.filter(position=1).update(text="…", has_words=False)
    assert asked_positions(window(book, actor, count=2)["tasks"]) == [2, 3]
    make_ready(book, [2, 3, 4])
    layers.apply(layers.Request(book.pk, "audio", False), actor)
    layers.apply(layers.Request(book.pk, "video", False), actor)
    assert window(book, actor, stages=())["stages"]["image"] == {"targets": 0, "skipped": {}}


def test_a_window_of_a_finished_book_is_empty_and_says_so(actor):
    book = make_book(scenes=2)
    make_ready(book, [1, 2])
    assert window(book, actor) == {
        "stages": {"image": {"targets": 0, "skipped": {}}},
        "targets": 0,
        "tasks": [],
        "auto_next": "auto_next_disabled",
    }


def test_a_book_without_scenes_is_an_answer_in_every_scope(actor):
    book = BookFactory()
    for scope in (Scope.WHOLE_BOOK, Scope.NEXT_WINDOW):
        assert regenerate.apply(Request(book.pk, (), scope), actor)["targets"] == 0
    assert images_of(book) == []
