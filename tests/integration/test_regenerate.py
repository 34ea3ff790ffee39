import pytest
from django.db import transaction

from generation.commands import layers, regenerate
from generation.commands.regenerate import Request, Scope
from generation.exceptions import (
    GenerationError,
    IdempotencyConflict,
    InvalidRequest,
    LayerDisabled,
    NotFound,
    UnknownStage,
)
from generation.lifecycle import State
from generation.models import Artifact, Asset, Command, ForceSet, JournalEntry, LayerConfig, Scene, Target, Task
from tests.factories.books import images_of, make_book

pytestmark = pytest.mark.django_db


def skipped(answer, stage="image"):
    return answer["stages"][stage]["skipped"]


def test_it_creates_task_targets_force_set_journal_and_moves_exactly_those_assets(actor):
    book, other = make_book(scenes=3), make_book(scenes=1)
    answer = regenerate.apply(Request(book.pk, ("image",)), actor)
    command, task = Command.objects.get(), Task.objects.get()
    assert answer == {"stages": {"image": {"targets": 3, "skipped": {}}}, "targets": 3, "tasks": [task.pk]}
    assert (command.actor_name, command.book_key, command.answer) == ("operator", book.key, answer)
    assert set(Target.objects.values_list("asset", "intent")) == {(asset.pk, 1) for asset in images_of(book)}
    assert set(Asset.objects.filter(state=State.PENDING)) == set(images_of(book))
    assert not other.assets.exclude(state=State.NEW).exists()
    assert ForceSet.objects.get().command == command
    entries = JournalEntry.objects.all()
    assert {(entry.asset_pk, entry.change, entry.command_pk, entry.actor) for entry in entries} == {
        (asset.pk, "new → pending", command.pk, "operator") for asset in images_of(book)
    }


def test_the_plan_writes_nothing_and_says_what_the_command_then_does(actor):
    book = make_book(scenes=2)
    planned = regenerate.plan(Request(book.pk)).answer()
    assert not Command.objects.exists()
    assert not Asset.objects.exclude(state=State.NEW).exists()
    answer = regenerate.apply(Request(book.pk), actor)
    answer.pop("tasks")
    assert answer == planned


def test_targets_and_skipped_together_are_what_was_asked_each_once(actor):
    book = make_book(scenes=6)
    assets = images_of(book)
    Scene.objects.filter(pk=assets[0].scene_id).update(text="…", has_words=False)
    regenerate.apply(Request(book.pk, ("image",), Scope.SCENE, (assets[1].scene_id,)), actor)
    plan = regenerate.plan(Request(book.pk)).stages
    for stage, of_stage in plan.items():
        chosen = of_stage.targets + [pk for some in of_stage.skipped.values() for pk in some]
        assert sorted(chosen) == sorted(book.assets.filter(stage=stage).values_list("pk", flat=True))
    assert plan["image"].counts()["skipped"] == {"nothing_to_render": 1, "already_queued": 1}


def test_asking_twice_queues_nothing_twice(actor):
    book = make_book(scenes=2)
    regenerate.apply(Request(book.pk, ("image",)), actor)
    again = regenerate.apply(Request(book.pk, ("image",)), actor)
    assert (again["targets"], skipped(again), again["tasks"]) == (0, {"already_queued": 2}, [])
    assert Task.objects.count() == 1


def test_rebuild_all_supersedes_what_is_queued(actor):
    book = make_book(scenes=1)
    regenerate.apply(Request(book.pk, ("image",)), actor)
    regenerate.apply(Request(book.pk, ("image",), rebuild_all=True), actor)
    assert list(Target.objects.order_by("pk").values_list("status", "intent")) == [("superseded", 1), ("open", 2)]


@pytest.mark.parametrize(
    ("scope", "chosen"),
    [(Scope.CHAPTER, 3), (Scope.SCENE, 1), (Scope.SELECTION, 2)],
)
def test_a_scope_chooses_its_scenes(actor, scope, chosen):
    book = make_book(scenes=3)
    scenes = list(book.scenes.values_list("pk", flat=True))
    ids = {Scope.CHAPTER: [book.chapters.get().pk], Scope.SCENE: scenes[:1], Scope.SELECTION: scenes[1:]}[scope]
    answer = regenerate.apply(Request(book.pk, ("image",), scope, tuple(ids)), actor)
    assert answer["targets"] == chosen
    assert Asset.objects.filter(state=State.PENDING).count() == chosen


def test_a_stage_named_alone_with_its_layer_off_is_refused_and_under_all_it_is_skipped(actor):
    book = make_book(scenes=1)
    layers.apply(layers.Request(book.pk, "image", enabled=False), actor)
    with pytest.raises(LayerDisabled):
        regenerate.apply(Request(book.pk, ("image",)), actor)
    answer = regenerate.apply(Request(book.pk), actor)
    assert skipped(answer) == {"layer_disabled": 1}
    assert answer["stages"]["audio"]["targets"] == 1
    assert skipped(answer, "video") == {"needs_image": 1}


def test_a_video_needs_a_picture_that_is_there_or_comes_with_the_same_command(actor):
    book = make_book(scenes=1)
    assert skipped(regenerate.apply(Request(book.pk, ("video",)), actor), "video") == {"needs_image": 1}
    assert regenerate.apply(Request(book.pk, ("image", "video")), actor)["targets"] == 2


def test_it_lifts_the_tombstone_of_its_own_stages_only(actor):
    book = make_book(scenes=1)
    for stage in ("audio", "image"):
        LayerConfig.objects.create(book=book, stage=stage, cancelled_at="2026-01-01T00:00:00Z")
    regenerate.apply(Request(book.pk, ("image",)), actor)
    assert set(LayerConfig.objects.filter(cancelled_at__isnull=False).values_list("stage", flat=True)) == {"audio"}


def test_a_new_command_gives_a_fresh_budget_and_ends_every_deferral(actor):
    book = make_book(scenes=1)
    Asset.objects.update(
        retries_left=0,
        deferred_until="2999-01-01T00:00:00Z",
        deferral_reason="x",
        failure_reason="y",
        refusal_reason="z",
        refusal_count=9,
        state=State.FAILED,
    )
    regenerate.apply(Request(book.pk, ("image",)), actor)
    asset = images_of(book)[0]
    assert (asset.retries_left, asset.deferred_until, asset.deferral_reason, asset.failure_reason) == (10, None, "", "")
    assert (asset.refusal_reason, asset.refusal_count, asset.intent) == ("", 0, 1)


def test_the_same_key_answers_the_same_and_acts_once(actor):
    book = make_book(scenes=1)
    first = regenerate.apply(Request(book.pk, ("image",), rebuild_all=True), actor, "k")
    assert regenerate.apply(Request(book.pk, ("image",), rebuild_all=True), actor, "k") == first
    assert Target.objects.count() == 1


def test_the_same_key_for_something_else_is_a_conflict_also_on_another_book(actor):
    book = make_book(scenes=1)
    regenerate.apply(Request(book.pk, ("image",)), actor, "k")
    for other in (Request(book.pk, ("audio",)), Request(make_book().pk, ("image",))):
        with pytest.raises(IdempotencyConflict):
            regenerate.apply(other, actor, "k")
    assert Command.objects.count() == 1


@pytest.mark.parametrize(
    ("request_of", "error"),
    [
        (lambda book: Request(999), NotFound),
        (lambda book: Request(book.pk, ("smell",)), UnknownStage),
        (lambda book: Request(book.pk, scope=Scope.CHAPTER), InvalidRequest),
        (lambda book: Request(book.pk, scope=Scope.CHAPTER, ids=(999,)), NotFound),
        (lambda book: Request(book.pk, scope=Scope.SCENE, ids=(1, 2)), GenerationError),
        (lambda book: Request(book.pk, scope=Scope.WHOLE_BOOK, ids=(1,)), InvalidRequest),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_and_leaves_no_row(actor, request_of, error):
    book = make_book(scenes=1)
    with pytest.raises(error):
        regenerate.apply(request_of(book), actor)
    assert not Command.objects.exists()
    assert not Asset.objects.exclude(state=State.NEW).exists()


@pytest.mark.parametrize("key", ["", "k" * 201, "a\x00b", "\ud800"])
def test_a_key_that_cannot_be_kept_is_refused(actor, key):
    with pytest.raises(InvalidRequest):
        regenerate.apply(Request(make_book().pk), actor, key)
    assert not Command.objects.exists()


def test_a_command_that_rolls_back_leaves_nothing(actor):
    book = make_book(scenes=1)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        regenerate.apply(Request(book.pk), actor)
        raise ZeroDivisionError
    assert not Command.objects.exists()
    assert not Target.objects.exists()


def published(asset, **inputs):
    artifact = Artifact.objects.create(
        asset=asset, version=1, dispatch_id=f"d{asset.pk}", content_version=1, audio_config_version=1, inputs=inputs
    )
    Asset.objects.filter(pk=asset.pk).update(state=State.READY, published=artifact)
    return artifact


def test_what_is_ready_and_current_is_kept_also_while_its_scene_waits_to_be_looked_at(actor):
    book = make_book(scenes=1)
    published(images_of(book)[0])
    Scene.objects.update(recheck=True)
    assert skipped(regenerate.apply(Request(book.pk, ("image",)), actor)) == {"ready": 1}


def test_what_is_ready_but_made_from_older_inputs_is_generated_without_waiting_to_be_marked(actor):
    book = make_book(scenes=2)
    for image, video in zip(images_of(book), book.assets.filter(stage="video").order_by("position"), strict=True):
        published(video, image=published(image).pk)
    first, second = book.scenes.all()
    Scene.objects.filter(pk=first.pk).update(content_version=2)
    newer = Artifact.objects.create(
        asset=images_of(book)[1], version=2, dispatch_id="newer", content_version=1, audio_config_version=1
    )
    Asset.objects.filter(scene=second, stage="image").update(published=newer)
    answer = regenerate.plan(Request(book.pk, ("image", "video"))).answer()
    assert answer["stages"]["image"] == {"targets": 1, "skipped": {"ready": 1}}
    assert answer["stages"]["video"] == {"targets": 2, "skipped": {}}
