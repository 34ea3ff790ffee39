import io

import av
import pytest
from PIL import Image

from dispatch.tick import run_tick
from generation import stand_ins, store
from generation.commands import delete, edit, placeholder, regenerate
from generation.commands.placeholder import Request
from generation.commands.scopes import Scope
from generation.models import Artifact, Asset
from tests.doubles.pictures import deliver_all
from tests.factories.books import images_of, make_book
from tests.flows.asking import ask, states

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_was_never_made_gets_a_marked_stand_in(actor):
    book = make_book(scenes=2)
    assert placeholder.apply(Request(book.pk), actor) == {"filled": 4, "skipped": {"no_stand_in": 2}}
    assert set(book.assets.values_list("stage", "state")) == {
        ("audio", "placeholder"),
        ("image", "placeholder"),
        ("video", "new"),
    }
    card = Image.open(store.open_file("stand-ins/card.webp"))
    assert (card.format, card.size) == ("WEBP", (1280, 720))
    names = set(Asset.objects.filter(stage="audio").values_list("stand_in", flat=True))
    assert names == {"stand-ins/silence-5s.mp3"}


def test_the_silence_is_as_long_as_the_narration_is_estimated():
    name = stand_ins.name_for("audio", "word " * 100)
    assert name == "stand-ins/silence-35s.mp3"
    with av.open(io.BytesIO(stand_ins.silence(35))) as container:
        frames = list(container.decode(audio=0))
        assert sum(frame.samples for frame in frames) / frames[0].sample_rate == pytest.approx(35, abs=0.1)
        assert max(abs(frame.to_ndarray()).max() for frame in frames) == 0
        assert container.metadata["title"] == stand_ins.MARK


def test_it_never_takes_the_place_of_a_real_file_or_of_work(actor, hub):
    book = make_book(scenes=3)
    ask(book, actor)
    run_tick(hub)
    deliver_all()
    run_tick(hub)
    _, second, third = before = images_of(book)
    Asset.objects.filter(pk=second.pk).update(state="dirty")
    Asset.objects.filter(pk=third.pk).update(state="failed")
    answer = placeholder.apply(Request(book.pk, ("image",)), actor)
    assert answer == {"filled": 0, "skipped": {"is_ready": 1, "has_file": 1, "is_failed": 1}}
    assert [asset.published for asset in images_of(book)] == [asset.published for asset in before]


def test_it_is_never_published_never_ready_and_never_dispatched(actor, hub):
    book = make_book(scenes=1)
    placeholder.apply(Request(book.pk), actor)
    for _ in range(3):
        run_tick(hub)
    assert (hub.submissions, Artifact.objects.count()) == ([], 0)
    assert not Asset.objects.filter(published__isnull=False).exists()
    plan = regenerate.plan(regenerate.Request(book.pk)).answer()["stages"]
    assert {stage: numbers["targets"] for stage, numbers in plan.items()} == {"audio": 1, "image": 1, "video": 1}
    assert regenerate.plan(regenerate.Request(book.pk, ("video",))).answer()["stages"]["video"] == {
        "targets": 0,
        "skipped": {"needs_image": 1},
    }


def test_a_regenerate_takes_its_place(actor, hub):
    book = make_book(scenes=1)
    placeholder.apply(Request(book.pk), actor)
    ask(book, actor)
    run_tick(hub)
    deliver_all()
    assert states(book) == ["ready"]
    assert images_of(book)[0].stand_in == ""


def test_all_assets_share_the_files(actor):
    placeholder.apply(Request(make_book(scenes=3).pk), actor)
    placeholder.apply(Request(make_book(scenes=3).pk), actor)
    assert sorted(store.storage().listdir("stand-ins")[1]) == ["card.webp", "silence-5s.mp3"]


def test_a_text_that_changes_meanwhile_gets_the_stand_in_of_its_new_length(actor, monkeypatch):
    book = make_book(scenes=1)
    ensure = stand_ins.ensure_stored
    edits = [edit.TextRequest(book.scenes.get().pk, "word " * 200)]

    def edited_meanwhile(name):
        ensure(name)
        while edits:
            edit.apply_text(edits.pop(), actor)

    monkeypatch.setattr(stand_ins, "ensure_stored", edited_meanwhile)
    placeholder.apply(Request(book.pk, ("audio",)), actor)
    name = Asset.objects.get(stage="audio").stand_in
    assert name == "stand-ins/silence-65s.mp3"
    assert store.storage().exists(name)


def test_a_repeated_command_is_answered_after_its_scene_is_gone(actor):
    book = make_book(scenes=1)
    scene = book.scenes.get()
    request = Request(book.pk, ("image",), Scope.SCENE, (scene.pk,))
    answer = placeholder.apply(request, actor, "k")
    delete.apply(delete.Request(delete.What.SCENE, (scene.pk,)), actor)
    assert placeholder.apply(request, actor, "k") == answer
