"""Marked stand-ins for what was not made yet: silence of the estimated length, a neutral card.

All assets share these few files. No asset ever publishes one, so none can be taken for a result.
"""

import io
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import av
from django.core.files.base import ContentFile
from PIL import Image, ImageDraw, ImageFont

from . import store
from .importing.sentences import narration_s
from .stages import StageName

STEP_S = 5
LONGEST_S = 600
SAMPLE_RATE = 24_000
CARD_PX = (1280, 720)
CARD_BACK, CARD_INK = (88, 92, 98), (214, 217, 221)
MARK = "PLACEHOLDER"


def name_for(stage: StageName, text: str) -> str | None:
    """Return the stored name of what stands in for this stage of a scene with this text; None if nothing can."""
    match stage:
        case StageName.AUDIO:
            return f"stand-ins/silence-{_length_s(text)}s.mp3"
        case StageName.IMAGE:
            return "stand-ins/card.webp"
    return None


def ensure_stored(name: str) -> None:
    """Put the file into the storage unless it is there. Not inside a transaction: a storage may be far away."""
    if not store.storage().exists(name):
        store.storage().save(name, ContentFile(_maker(name)()))


def content_type_of(name: str) -> str:
    return "audio/mpeg" if name.endswith(".mp3") else "image/webp"


def _length_s(text: str) -> int:
    """Return the estimated length in whole steps of 5 s, so that few files serve all."""
    return min(LONGEST_S, max(STEP_S, round(narration_s(text) / STEP_S) * STEP_S))


def _maker(name: str) -> Callable[[], bytes]:
    if name.endswith(".mp3"):
        return partial(silence, int(name.removeprefix("stand-ins/silence-").removesuffix("s.mp3")))
    return card


def silence(length_s: int) -> bytes:
    """Return an MP3 of `length_s` seconds of silence, titled as a placeholder."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp3") as container:
        container.metadata["title"] = MARK
        stream = container.add_stream("libmp3lame", rate=SAMPLE_RATE, layout="mono")
        stream.bit_rate = 32_000
        samples = SAMPLE_RATE * length_s
        frame = av.AudioFrame("s16p", "mono", samples)
        frame.planes[0].update(bytes(2 * samples))
        frame.sample_rate, frame.time_base = SAMPLE_RATE, Fraction(1, SAMPLE_RATE)
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    return buffer.getvalue()


def card() -> bytes:
    """Return the neutral 16:9 picture that says what it is, as WebP."""
    picture = Image.new("RGB", CARD_PX, CARD_BACK)
    draw = ImageDraw.Draw(picture)
    draw.text((CARD_PX[0] / 2, CARD_PX[1] / 2), MARK, CARD_INK, ImageFont.load_default(64), anchor="mm")
    buffer = io.BytesIO()
    picture.save(buffer, "WEBP", quality=80)
    return buffer.getvalue()
