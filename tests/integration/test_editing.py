import pytest

from dispatch.models import Dispatch, Job
from dispatch.tick import run_tick
from generation.commands import edit, layers, regenerate
from generation.models import JournalEntry, Scene
from tests.doubles.pictures import deliver_all
from tests.factories.books import make_book
from tests.flows.asking import ask, image, states

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def book(actor, hub):
    book = make_book(scenes=2)
    ask(book, actor)
    run_tick(hub)
    deliver_all()
    run_tick(hub)
    return book


def edit_first(book, actor, text="The ship is lost."):
    return edit.apply_text(edit.TextRequest(book.scenes.first().pk, text), actor)


@pytest.mark.long
def test_an_edit_marks_ready_pictures_out_of_date_and_starts_nothing(book, actor, hub):
    assert edit_first(book, actor) == {"scenes": 1, "ready": 1}
    for _ in range(5):
        run_tick(hub)
    assert states(book) == ["dirty", "ready"]
    assert Dispatch.objects.count() == 2
    assert not Scene.objects.filter(recheck=True).exists()


def test_the_same_text_again_changes_nothing(book, actor, hub):
    before = book.scenes.first()
    assert edit_first(book, actor, before.text) == {"scenes": 0, "ready": 0}
    after = book.scenes.first()
    assert (after.content_version, after.recheck) == (before.content_version, False)


def test_an_edit_is_journalled_once_per_asset(book, actor):
    edit_first(book, actor)
    entries = JournalEntry.objects.filter(event="edit_text").values_list("stage", "change", "actor")
    assert sorted(entries) == [(stage, "", "operator") for stage in ("audio", "image", "video")]


def test_voices_concern_narration_and_video_not_pictures(book, actor, hub):
    answer = edit.apply_voices(edit.VoicesRequest(book.pk, "heart", 120), actor)
    assert answer == {"scenes": 2, "ready": 0}
    run_tick(hub)
    assert states(book) == ["ready", "ready"]
    assert set(Scene.objects.values_list("voice", "speed_percent", "audio_config_version")) == {("heart", 120, 2)}


def test_a_layer_that_is_off_is_left_alone(book, actor, hub):
    layers.apply(layers.Request(book.pk, "image", False), actor)
    edit_first(book, actor)
    run_tick(hub)
    assert states(book) == ["ready", "ready"]


def test_an_edit_while_it_is_being_made_is_made_again_from_the_present_text(actor, hub):
    book = make_book(scenes=1)
    ask(book, actor)
    run_tick(hub)
    edit_first(book, actor, "A new text.")
    deliver_all()
    run_tick(hub)
    assert (image().state, Dispatch.objects.count()) == ("generating", 2)
    assert Job.objects.latest("pk").envelope["scene"]["text"] == "A new text."
    deliver_all()
    assert image().state == "ready"


def test_a_text_without_words_ends_as_nothing_to_render(actor, hub):
    book = make_book(scenes=1)
    ask(book, actor)
    edit_first(book, actor, "… — !")
    run_tick(hub)
    assert (image().state, image().failure_reason, hub.submissions) == ("failed", "nothing_to_render", [])
    assert ask(book, actor)["stages"]["image"]["skipped"] == {"nothing_to_render": 1}


def test_the_order_of_a_narration_carries_its_voice(actor, hub):
    book = make_book(scenes=1)
    edit.apply_voices(edit.VoicesRequest(book.pk, "heart", 90), actor)
    ask(book, actor, "audio")
    run_tick(hub)
    assert Job.objects.get().envelope["voice"] == {"name": "heart", "speed_percent": 90}


def test_voices_that_change_while_a_picture_is_made_cost_no_second_picture(actor, hub):
    book = make_book(scenes=1)
    ask(book, actor)
    run_tick(hub)
    edit.apply_voices(edit.VoicesRequest(book.pk, "heart"), actor)
    assert ask(book, actor)["stages"]["image"]["skipped"] == {"already_queued": 1}
    deliver_all()
    run_tick(hub)
    assert (image().state, Dispatch.objects.count()) == ("ready", 1)


def test_a_layer_that_was_off_during_an_edit_is_compared_when_it_is_on_again(book, actor, hub):
    layers.apply(layers.Request(book.pk, "image", False), actor)
    edit_first(book, actor)
    run_tick(hub)
    layers.apply(layers.Request(book.pk, "image", True), actor)
    window = regenerate.Request(book.pk, ("image",), regenerate.Scope.NEXT_WINDOW)
    assert regenerate.plan(window).answer()["targets"] == 1
    run_tick(hub)
    assert states(book) == ["dirty", "ready"]


def test_lines_that_a_browser_ends_its_own_way_are_the_same_text(book, actor, admin_client):
    scene = book.scenes.first()
    edit.apply_text(edit.TextRequest(scene.pk, "One.\n\nTwo. "), actor)
    address = f"/admin/generation/scene/{scene.pk}/change/"
    admin_client.post(address, {"text": "One.\r\n\r\nTwo. "})
    scene.refresh_from_db()
    assert (scene.text, scene.content_version) == ("One.\n\nTwo. ", 2)
