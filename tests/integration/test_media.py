"""Media count by what is in them, not by what is said about them."""

import io

import av
import numpy as np
import pytest
from PIL import Image

from dispatch.rendering.narration import sound
from generation import media, stand_ins
from generation.exceptions import BadMedia
from tests.doubles.films import mp4
from tests.doubles.pictures import webp
from tests.doubles.sounds import RATE, mp3, tone

GOOD = {
    "image/webp": webp,
    "audio/mpeg": mp3,
    "audio/flac": lambda: sound.encode_flac(tone(1), RATE),
    "video/mp4": mp4,
    "text/vtt": lambda: b"WEBVTT\n",
}


def png(width, height):
    buffer = io.BytesIO()
    Image.new("RGB", (width, height)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize("content_type", GOOD)
def test_what_is_what_it_says_is_accepted(content_type):
    media.validate("file", content_type, GOOD[content_type]())


@pytest.mark.parametrize("content_type", GOOD)
@pytest.mark.parametrize("said", GOOD)
def test_nothing_passes_for_something_else(content_type, said):
    if content_type != said:
        with pytest.raises(BadMedia, match="^file"):
            media.validate("file", said, GOOD[content_type]())


@pytest.mark.parametrize("content_type", [name for name in GOOD if name != "text/vtt"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_a_file_that_is_cut_off_is_refused(content_type, share):
    content = {**GOOD, "audio/mpeg": lambda: sound.encode_mp3(tone(5), RATE)}[content_type]()
    with pytest.raises(BadMedia):
        media.validate("file", content_type, content[: int(len(content) * share)])


@pytest.mark.parametrize(
    ("content_type", "content", "why"),
    [
        ("audio/mpeg", stand_ins.silence(2), "it is silent"),
        ("audio/flac", sound.encode_flac(np.zeros(RATE, np.float32), RATE), "it is silent"),
        ("audio/flac", sound.encode_flac(tone(0.01), RATE), "no sound in it"),
        ("image/png", png(8, 500), "it is 8×500 pixels"),
        ("image/png", webp(), "it is image/webp"),
        ("text/vtt", b"<html>", "it is no WebVTT"),
        ("text/vtt", b"WEBVTTgarbage", "it is no WebVTT"),
        ("text/vtt", b"WEBVTT\n\n\x00", "it is no WebVTT"),
    ],
)
def test_the_message_says_what_is_wrong(content_type, content, why):
    with pytest.raises(BadMedia, match=f"^file: .*{why}"):
        media.validate("file", content_type, content)


def test_sides_and_length_are_measured():
    assert media.measure("image/webp", webp()) == media.Measures(64, 36)
    assert media.measure("video/mp4", mp4()) == media.Measures(64, 36, 1000)
    measured = media.measure("audio/mpeg", mp3())
    assert abs(measured.duration_ms - 1000) < 60
    assert media.measure("video/mp4", b"nothing") == media.Measures()


def test_a_film_that_browsers_do_not_play_is_refused():
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        film = container.add_stream("mpeg4", rate=5)
        film.width, film.height, film.pix_fmt = 64, 36, "yuv420p"
        for _ in range(5):
            container.mux(film.encode(av.VideoFrame.from_ndarray(np.zeros((54, 64), np.uint8), format="yuv420p")))
        container.mux(film.encode(None))
    with pytest.raises(BadMedia, match="browsers do not play"):
        media.validate("file", "video/mp4", buffer.getvalue())
