"""What a media file really is, read from its content: nothing that a sender says about it is believed."""

import io
import re
import warnings
from dataclasses import dataclass
from typing import cast

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.video.stream import VideoStream
from PIL import Image

from .exceptions import BadMedia

SMALLEST_SIDE_PX = 16
SHORTEST_S = 0.1
# A file that ends this much earlier than it says is cut off.
MISSING_S = 1.0
# Root mean square below which nobody hears anything: −60 dBFS.
SILENCE = 0.001
PILLOW_FORMATS = {"WEBP": "image/webp", "PNG": "image/png", "JPEG": "image/jpeg"}
# Content type → the container and codec that FFmpeg finds in it.
SOUNDS = {"audio/mpeg": ("mp3", {"mp3", "mp3float"}), "audio/flac": ("flac", {"flac"})}
FILMS = {"video/mp4": "mp4"}
# What browsers play.
FILM_CODECS = {"h264", "hevc", "av1", "libdav1d", "vp9"}
FILM_FORMATS = {"yuv420p", "yuvj420p", "yuv420p10le"}
# How the files of pictures begin that browsers show.
PICTURE_MARKS = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG": "image/png", b"RIFF": "image/webp"}
VTT_START = re.compile(rb"(?:\xef\xbb\xbf)?WEBVTT(?:[ \t][^\r\n]*)?(?:\r|\n|$)")


def picture_type_of(content: bytes) -> str:
    """Return the content type a picture's first bytes tell, empty for anything else."""
    return next((kind for mark, kind in PICTURE_MARKS.items() if content.startswith(mark)), "")


@dataclass(frozen=True)
class Measures:
    """Sides in pixels, length in milliseconds; None where there is none, or where the content does not decode."""

    width: int | None = None
    height: int | None = None
    duration_ms: int | None = None


def measure(content_type: str, content: bytes) -> Measures:
    """Return what the header says, for display. Never raises; `validate` says in words what is wrong."""
    try:
        if content_type.startswith("image/"):
            with Image.open(io.BytesIO(content)) as picture:
                return Measures(picture.width, picture.height)
        if content_type in SOUNDS or content_type in FILMS:
            with _opened(content) as container:
                film = next(iter(container.streams.video), None) if content_type in FILMS else None
                duration = None if container.duration is None else round(container.duration * 1000 / av.time_base)
                return Measures(film.width if film else None, film.height if film else None, duration)
    except Exception:
        return Measures()
    return Measures()


def validate(name: str, content_type: str, content: bytes) -> None:
    """Raise BadMedia unless the content is of its type, decodes, and has something in it; `name` is for the message."""
    try:
        if content_type.startswith("image/"):
            _validate_picture(content_type, content)
        elif content_type in SOUNDS:
            _validate_sound(content_type, content)
        elif content_type in FILMS:
            _validate_film(content_type, content)
        elif content_type == "text/vtt":
            _validate_subtitles(content)
    except BadMedia as error:
        raise BadMedia(f"{name}: {error}") from None
    except Exception as error:  # a decoder fed with anything raises anything: SyntaxError, struct.error, zlib.error …
        raise BadMedia(f"{name} does not decode: {error}") from error


def _validate_picture(content_type: str, content: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(io.BytesIO(content)) as picture:
            picture.load()
            found, size = PILLOW_FORMATS.get(picture.format or ""), picture.size
    if found != content_type:
        raise BadMedia(f"it says it is {content_type}, but it is {found or 'something else'}")
    if min(size) < SMALLEST_SIDE_PX:
        raise BadMedia(f"it is {size[0]}×{size[1]} pixels")


def _validate_sound(content_type: str, content: bytes) -> None:
    with _opened(content) as container:
        _require_container(container, content_type, SOUNDS[content_type][0])
        if not container.streams.audio:
            raise BadMedia("it has no sound in it")
        stream = container.streams.audio[0]
        if stream.codec_context.name not in SOUNDS[content_type][1]:
            raise BadMedia(f"it says it is {content_type}, but it holds {stream.codec_context.name}")
        _require_heard(container, stream)


def _validate_subtitles(content: bytes) -> None:
    if not VTT_START.match(content) or "\x00" in content.decode("utf-8"):
        raise BadMedia("it is no WebVTT")


def _validate_film(content_type: str, content: bytes) -> None:
    with _opened(content) as container:
        _require_container(container, content_type, FILMS[content_type])
        if not container.streams.video:
            raise BadMedia("it has no picture in it")
        film = container.streams.video[0]
        codec, form = film.codec_context.name, film.codec_context.pix_fmt
        if codec not in FILM_CODECS or form not in FILM_FORMATS:
            raise BadMedia(f"it holds {codec} as {form}, which browsers do not play")
        if min(film.width, film.height) < SMALLEST_SIDE_PX:
            raise BadMedia(f"it is {film.width}×{film.height} pixels")
        # Every key frame is decoded, and every packet read: what is cut off or damaged shows, at a tenth of the price.
        film.codec_context.skip_frame = "NONKEY"
        last_s, frames = 0.0, 0
        for packet in container.demux(film):
            if packet.pts is not None:
                last_s = max(last_s, float((packet.pts + (packet.duration or 0)) * packet.time_base))
            frames += len(packet.decode())
    if frames == 0 or last_s < SHORTEST_S:
        raise BadMedia("it shows nothing")
    _require_whole(film, last_s)
    with _opened(content) as container:
        for sound in container.streams.audio[:1]:
            # Other hubs may add an empty track to a video without a narration.
            _loudness(container, sound)


def _require_heard(container: InputContainer, stream: AudioStream) -> None:
    if _loudness(container, stream) < SILENCE:
        raise BadMedia("it is silent")


def _loudness(container: InputContainer, stream: AudioStream) -> float:
    """Decode the whole track and return its root mean square. Raises BadMedia when it is empty or cut off."""
    samples, power = 0, 0.0
    resampler = av.AudioResampler("flt", "mono", stream.rate)
    for frame in container.decode(stream):
        for part in resampler.resample(frame):
            values = part.to_ndarray().astype(np.float64)
            samples, power = samples + values.size, power + float((values**2).sum())
    if samples < SHORTEST_S * stream.rate:
        raise BadMedia("it has no sound in it")
    if not np.isfinite(power):
        raise BadMedia("its sound is no sound")
    _require_whole(stream, samples / stream.rate)
    return float((power / samples) ** 0.5)


def _require_whole(stream: AudioStream | VideoStream, found_s: float) -> None:
    if stream.duration is not None and stream.time_base is not None:
        declared_s = float(stream.duration * stream.time_base)
        if found_s < declared_s - MISSING_S:
            raise BadMedia(f"it ends after {found_s:.1f} of {declared_s:.1f} s")


def _opened(content: bytes) -> InputContainer:
    return cast(InputContainer, av.open(io.BytesIO(content)))


def _require_container(container: InputContainer, content_type: str, wanted: str) -> None:
    if wanted not in container.format.name.split(","):
        raise BadMedia(f"it says it is {content_type}, but it is {container.format.name}")
