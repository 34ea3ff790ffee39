import pytest
from django.db.models.functions import Now

from generation import gate
from generation.commands import cancel, layers, regenerate
from generation.lifecycle import State
from generation.models import Artifact, Asset, Book, LayerConfig, StageConfig, SystemConfig, Target, Task
from tests.factories.books import images_of, make_book

pytestmark = pytest.mark.django_db


@pytest.fixture
def asset(actor) -> Asset:
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    return images_of(book)[0]


def why(asset):
    return gate.why_not_exist(asset.pk), gate.why_not_start(asset.pk)


def test_a_commanded_asset_may_exist_and_start(asset):
    assert why(asset) == (None, None)
    assert Asset.objects.filter(gate.may_start(), gate.may_exist()).get() == asset


def test_without_a_command_nothing_may_exist():
    book = make_book(scenes=1)
    assert {why(asset) for asset in book.assets.all()} == {("no_active_task", "no_active_task")}


def test_a_target_of_an_older_intent_is_no_command(asset):
    Asset.objects.update(intent=99)
    assert why(asset) == ("no_active_task", "no_active_task")


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_target_of_an_ended_task_is_no_command(asset, status):
    Task.objects.update(status=status)
    assert why(asset) == ("no_active_task", "no_active_task")


def test_a_blocked_task_lets_its_work_exist_but_not_start(asset):
    Task.objects.update(status=Task.Status.BLOCKED)
    assert why(asset) == (None, "blocked")


def test_a_tombstone_is_named_before_anything_else(asset, actor):
    cancel.apply(cancel.Request(asset.book_id), actor)
    assert why(asset) == ("cancelled", "cancelled")
    assert gate.all_reasons(asset.pk)[:2] == ["cancelled", "no_active_task"]


def test_a_layer_that_is_off_stops_its_work_even_with_an_open_target(asset):
    LayerConfig.objects.create(book=asset.book, stage="image", enabled=False)
    assert why(asset) == ("layer_disabled", "layer_disabled")


def test_the_layer_of_another_stage_or_book_says_nothing(asset, actor):
    layers.apply(layers.Request(asset.book_id, "audio", enabled=False), actor)
    LayerConfig.objects.create(book=make_book(), stage="image", enabled=False, cancelled_at=Now())
    assert why(asset) == (None, None)


@pytest.mark.parametrize(
    "pause",
    [
        lambda asset: LayerConfig.objects.create(book=asset.book, stage="image", paused_at=Now()),
        lambda asset: StageConfig.objects.create(stage="image", quota=4, paused_at=Now()),
    ],
    ids=["book", "stage"],
)
def test_a_pause_starts_nothing_and_stops_nothing(asset, pause):
    pause(asset)
    assert why(asset) == (None, "paused")


def test_a_deferral_holds_until_its_time(asset):
    Asset.objects.filter(pk=asset.pk).update(deferred_until="2999-01-01T00:00:00Z")
    assert why(asset) == (None, "deferred")
    Asset.objects.filter(pk=asset.pk).update(deferred_until="2000-01-01T00:00:00Z")
    assert why(asset) == (None, None)


def test_a_video_waits_for_the_picture_and_the_narration_that_are_coming(actor):
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk), actor)
    video = book.assets.get(stage="video")
    assert gate.all_reasons(video.pk) == ["waiting_for:image", "waiting_for:audio"]


def test_a_video_needs_a_picture_that_is_there(actor):
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk), actor)
    video = book.assets.get(stage="video")
    Target.objects.exclude(asset=video).update(status=Target.Status.FAILED)
    assert gate.all_reasons(video.pk) == ["needs_image"]
    image = book.assets.get(stage="image")
    artifact = Artifact.objects.create(
        asset=image, version=1, dispatch_id="d", content_version=1, audio_config_version=1
    )
    Asset.objects.filter(pk=image.pk).update(state=State.READY, published=artifact)
    assert gate.all_reasons(video.pk) == []
    Asset.objects.filter(pk=image.pk).update(state=State.DIRTY)
    assert gate.all_reasons(video.pk) == ["needs_image"]
    LayerConfig.objects.create(book=book, stage="image", enabled=False)
    assert gate.all_reasons(video.pk) == []


def test_a_deleted_asset_may_do_nothing():
    assert (gate.why_not_exist(999), gate.why_not_start(999), gate.all_reasons(999)) == (
        "deleted",
        "deleted",
        ["deleted"],
    )


@pytest.mark.parametrize("check", gate.MAY_START, ids=lambda check: check.reason)
def test_every_check_is_an_expression_that_the_database_can_judge(check, asset):
    assert Asset.objects.filter(check.holds_back()).count() >= 0


@pytest.mark.parametrize(
    "shut",
    [
        lambda book: LayerConfig.objects.create(book=book, stage="image", cancelled_at=Now()),
        lambda book: LayerConfig.objects.create(book=book, stage="image", enabled=False),
        lambda book: LayerConfig.objects.create(book=book, stage="image", paused_at=Now()),
        lambda book: StageConfig.objects.create(stage="image", quota=4, paused_at=Now()),
        lambda book: SystemConfig.objects.create(paused_at=Now()),
    ],
    ids=["stopped", "layer off", "book paused", "stage paused", "everything paused"],
)
def test_a_book_that_is_shut_is_one_whose_every_asset_is_held_back(asset, shut):
    assert not Book.objects.filter(gate.shut("image")).exists()
    shut(asset.book)
    assert Book.objects.filter(gate.shut("image")).get() == asset.book
    assert not Asset.objects.filter(gate.may_start(), pk=asset.pk).exists()
