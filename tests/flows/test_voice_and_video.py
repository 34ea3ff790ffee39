"""Books that one can hear and watch, with the real renderers; only the processes of the workers are left out."""

import io

import av
import numpy as np
import pytest
from PIL import Image

from dispatch.models import Dispatch
from dispatch.rendering.narration import sound
from dispatch.tick import run_tick
from generation import store
from generation.commands import cancel, edit, layers, regenerate
from generation.cues import from_vtt
from generation.models import Scene, Target
from tests.factories.books import make_book
from tests.flows.asking import ask
from tests.flows.rendering import asset_of, draft, files_of, render_now, work  # noqa: F401 - fixtures

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему."
GERMAN = "Als Gregor Samsa eines Morgens aus unruhigen Träumen erwachte, war er verwandelt."
SHORT = "Call me Ishmael."
ENGLISH = "Call me Ishmael. Some years ago I thought I would sail about a little."


def book_of(*texts, language="en"):
    book = make_book(scenes=len(texts), language=language)
    for scene, text in zip(book.scenes.order_by("position"), texts, strict=True):
        Scene.objects.filter(pk=scene.pk).update(text=text)
    return book


def length_s(content) -> float:
    with av.open(io.BytesIO(content)) as container:
        return container.duration / av.time_base


def test_a_book_of_two_scenes_becomes_something_to_hear_and_watch(actor, work):
    book = book_of(ENGLISH, "The ship sailed through the storm, and nobody slept.")
    regenerate.apply(regenerate.Request(book.pk), actor)
    work()
    assert set(book.assets.values_list("state", flat=True)) == {"ready"}
    for position in (1, 2):
        narration = files_of(asset_of(book, "audio", position))
        picture = files_of(asset_of(book, "image", position))
        video = files_of(asset_of(book, "video", position))
        heard_s, shown_s = length_s(narration["main"]), length_s(video["main"])
        row = asset_of(book, "video", position).published.files.get(role="main")
        assert (row.width, row.height, row.duration_ms) == (960, 540, round(shown_s * 1000))
        assert abs(heard_s - shown_s) < 0.1
        with Image.open(io.BytesIO(picture["main"])) as image:
            assert image.width * 9 == image.height * 16
        for content in (narration["main"], video["main"]):
            samples, rate = sound.decode(content)
            assert abs(20 * np.log10(sound.speech_rms(samples, rate)) - sound.LOUDNESS_DBFS) < 1.5
        for subtitles in (narration["subtitles"], video["subtitles"]):
            cues = from_vtt(subtitles)
            assert " ".join(cue.text for cue in cues) == book.scenes.get(position=position).text
            assert heard_s - 1 < cues[-1].end <= heard_s + 0.01
        with av.open(io.BytesIO(video["main"])) as container:
            film = container.streams.video[0]
            assert (film.codec_context.name, container.streams.audio[0].codec_context.name) == ("h264", "aac")
            assert (film.width, film.height, float(film.average_rate)) == (960, 540, 15)
            frames = [frame.to_ndarray(format="gray").astype(int) for frame in container.decode(film)]
        assert len(frames) == pytest.approx(shown_s * 15, abs=1.5)
        # The camera moves, and no frame is empty.
        assert np.abs(frames[0] - frames[-1]).mean() > 1
        assert min(frame.std() for frame in frames) > 5
        index, media = video["main"].find(b"moov"), video["main"].find(b"mdat")
        assert 0 < index < media  # it begins to play before it is loaded


@pytest.mark.parametrize(
    ("text", "language", "rate"),
    [(ENGLISH, "en", 24_000), (GERMAN, "de", 16_000), (RUSSIAN, "ru", 22_050), (RUSSIAN, "en", 22_050)],
)
def test_a_scene_is_read_by_a_voice_of_its_language(text, language, rate, actor, work):
    book = book_of(text, language=language)
    ask(book, actor, "audio")
    work()
    content = files_of(asset_of(book, "audio"))["main"]
    samples, found = sound.decode(content)
    assert found == rate  # each engine has its own
    assert 0.03 < len(samples) / found / len(text) < 0.15  # seconds per letter: read, not spelled


BAD = {
    "only tags": ("<p><br></p>", "nothing_to_render"),
    "CJK without a voice": ("天地玄黄，宇宙洪荒。", "no_voice"),
    "right to left without a voice": ("בראשית ברא אלוהים את השמים", "no_voice"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_spoken_ends_clearly_after_one_attempt(name, actor, work, monkeypatch):
    monkeypatch.setattr("dispatch.rendering.narration.voices.is_installed", lambda engine: engine != "espeak")
    text, reason = BAD[name]
    book = book_of(text, SHORT)
    ask(book, actor, "audio")
    work()
    asset = asset_of(book, "audio")
    assert (asset.state, asset.failure_reason, asset.retries_left) == ("failed", reason, 10)
    assert asset.failure_message
    assert asset_of(book, "audio", 2).state == "ready"


@pytest.mark.parametrize("text", ["🐳🌊", " … "])
def test_a_scene_without_a_word_is_left_out_by_the_command_with_the_reason(text, actor):
    book = book_of(ENGLISH)
    edit.apply_text(edit.TextRequest(book.scenes.get().pk, text), actor)
    answer = regenerate.apply(regenerate.Request(book.pk), actor)
    skipped = {stage: plan["skipped"] for stage, plan in answer["stages"].items()}
    assert skipped == dict.fromkeys(skipped, {"nothing_to_render": 1})
    assert not Target.objects.exists()


def test_no_voice_says_for_which_language(actor, work, monkeypatch):
    monkeypatch.setattr("dispatch.rendering.narration.voices.is_installed", lambda engine: engine != "espeak")
    book = book_of(RUSSIAN)
    ask(book, actor, "audio")
    work()
    assert asset_of(book, "audio").failure_message.startswith("no voice for language ru; requirements-espeak.txt")


GOOD = {
    "a word of 3 000 letters": "a" * 3000,
    "tags": "<h1>One</h1> <p>bold <b>word</b> &amp; more.</p>",
    "right to left": "כל ההתחלות קשות, אמר הזקן.",
}


@pytest.mark.parametrize("name", GOOD)
def test_text_that_is_strange_but_has_words_is_read(name, actor, work):
    book = book_of(GOOD[name])
    ask(book, actor, "audio")
    work()
    assert asset_of(book, "audio").state == "ready"
    assert length_s(files_of(asset_of(book, "audio"))["main"]) > 0.5


def test_twenty_thousand_letters_are_read_in_parts_and_are_one_narration(actor, work):
    text = " ".join([RUSSIAN] * 220)
    assert len(text) > 20_000
    book = book_of(text, language="ru")
    ask(book, actor, "audio")
    work()
    dispatch = Dispatch.objects.latest("pk")
    assert asset_of(book, "audio").state == "ready"
    assert len(dispatch.units) > 10
    content = files_of(asset_of(book, "audio"))
    cues = from_vtt(content["subtitles"])
    assert all(cue.end <= later.start + 0.001 for cue, later in zip(cues, cues[1:], strict=False))
    assert cues[-1].end <= length_s(content["main"]) + 0.01


def test_without_a_narration_a_video_is_silent_by_declaration(actor, work):
    book = book_of(SHORT)
    ask(book, actor, "image")
    work()
    ask(book, actor, "video")
    work()
    with av.open(io.BytesIO(files_of(asset_of(book, "video"))["main"])) as container:
        assert (len(container.streams.video), len(container.streams.audio)) == (1, 0)
    assert list(asset_of(book, "video").published.inputs) == ["image"]


def test_a_video_waits_for_its_picture_and_narration_and_needs_the_picture(actor, hub):
    book = book_of(SHORT)
    answer = ask(book, actor, "video")
    assert answer["stages"]["video"]["skipped"] == {"needs_image": 1}
    regenerate.apply(regenerate.Request(book.pk), actor)
    run_tick(hub)
    assert {dispatch.stage for dispatch in Dispatch.objects.all()} == {"audio", "image"}
    assert asset_of(book, "video").state == "pending"


@pytest.mark.parametrize("stage", ["image", "audio"])
def test_a_replaced_picture_or_narration_makes_the_video_stale_and_starts_nothing(stage, actor, work, hub):
    book = book_of(SHORT)
    regenerate.apply(regenerate.Request(book.pk), actor)
    work()
    ask(book, actor, stage, rebuild_all=True)
    work()
    run_tick(hub)
    assert {row.stage: row.state for row in book.assets.all()} == {
        "audio": "ready",
        "image": "ready",
        "video": "dirty",
    }
    assert Dispatch.objects.filter(stage="video").count() == 1


def test_a_corrupt_picture_is_a_clear_failure_of_the_video(actor, work, hub):
    book = book_of(SHORT)
    ask(book, actor, "image")
    work()
    name = asset_of(book, "image").published.files.get(role="main").name
    store.storage().delete(name)
    store.storage().save(name, store.ContentFile(b"rust" * 1000))
    ask(book, actor, "video")
    run_tick(hub)
    video = asset_of(book, "video")
    assert (video.state, video.deferral_reason, video.retries_left) == ("pending", "retry_backoff", 4)
    assert "does not decode" in Dispatch.objects.get(stage="video").message


def test_a_picture_whose_file_is_gone_fails_the_video_for_good(actor, work, hub):
    book = book_of(SHORT)
    ask(book, actor, "image")
    work()
    store.storage().delete(asset_of(book, "image").published.files.get(role="main").name)
    ask(book, actor, "video")
    run_tick(hub)
    video = asset_of(book, "video")
    assert (video.state, video.failure_reason, video.retries_left) == ("failed", "artifact_gone", 5)


def test_a_voice_that_the_language_does_not_have_is_named(actor, work):
    book = book_of(SHORT)
    edit.apply_voices(edit.VoicesRequest(book.pk, "nobody"), actor)
    ask(book, actor, "audio")
    work()
    assert asset_of(book, "audio").failure_message.startswith("no voice 'nobody' for language en; there is heart")


def test_another_voice_and_speed_are_heard(actor, work):
    book = book_of(SHORT)
    lengths = []
    for voice, speed in (("heart", 100), ("heart", 200), ("pico-gb", 100)):
        edit.apply_voices(edit.VoicesRequest(book.pk, voice, speed), actor)
        ask(book, actor, "audio")
        work()
        lengths.append(
            (
                sound.decode(files_of(asset_of(book, "audio"))["main"])[1],
                length_s(files_of(asset_of(book, "audio"))["main"]),
            )
        )
    assert [rate for rate, _ in lengths] == [24_000, 24_000, 16_000]
    assert lengths[1][1] < 0.7 * lengths[0][1]


def test_a_stop_while_a_video_is_filmed_publishes_nothing(actor, work, hub):
    book = book_of(SHORT)
    ask(book, actor, "image")
    work()

    def stopped_meanwhile(envelope) -> None:
        cancel.apply(cancel.Request(book.pk), actor)
        render_now(envelope)

    hub.on_submit = stopped_meanwhile
    ask(book, actor, "video")
    run_tick(hub)
    assert (asset_of(book, "video").state, asset_of(book, "video").published) == ("dirty", None)


def test_a_layer_that_is_off_lets_the_published_picture_serve(actor, work):
    book = book_of(SHORT)
    ask(book, actor, "image")
    work()
    layers.apply(layers.Request(book.pk, "image", enabled=False), actor)
    ask(book, actor, "video")
    work()
    assert asset_of(book, "video").state == "ready"


def test_a_video_of_yesterdays_narration_is_out_of_date_whatever_became_ready(actor, work):
    book = book_of(SHORT)
    regenerate.apply(regenerate.Request(book.pk), actor)
    work()
    edit.apply_text(edit.TextRequest(book.scenes.get().pk, "A whale swam past."), actor)
    edit.apply_voices(edit.VoicesRequest(book.pk, "nosuchvoice"), actor)
    regenerate.apply(regenerate.Request(book.pk), actor)
    work()
    states = {stage: asset_of(book, stage).state for stage in ("audio", "image", "video")}
    assert states == {"audio": "failed", "image": "ready", "video": "dirty"}
    edit.apply_voices(edit.VoicesRequest(book.pk), actor)
    regenerate.apply(regenerate.Request(book.pk), actor)
    work()
    assert asset_of(book, "video").state == "ready"
