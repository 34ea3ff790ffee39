"""Frames and narration into one MP4 that begins to play before it is loaded."""

import math
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.container import OutputContainer
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc
from av.video.stream import VideoStream

from dispatch.rendering.narration.speaking import Samples

from .planes import Plane
from .profiles import Profile
from .shots import Shots
from .title import Title

AAC_BITS = 96_000
AAC_SAMPLES = 1024
# A player seeks to a key frame and decodes from there.
KEY_FRAME_S = 2
X264 = {"preset": "veryfast", "crf": "23", "tune": "stillimage"}


@dataclass(frozen=True)
class Narration:
    samples: Samples
    rate: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate


def encode(
    shots: Shots,
    title: Title,
    profile: Profile,
    narration: Narration | None,
    progress: Callable[[float], None],
) -> bytes:
    """Return the MP4. One frame is in memory at a time; the sound is padded to whole frames."""
    frames = max(1, math.ceil(shots.length_s * profile.frames_per_second))
    with _scratch_file() as path:
        with av.open(path, "w", format="mp4", options={"movflags": "+faststart"}) as container:
            film = _film_stream(container, profile)
            voice = _Voice(container, narration, frames / profile.frames_per_second) if narration else None
            for number in range(frames):
                seconds = number / profile.frames_per_second
                picture = shots.frame(seconds, profile.width, profile.height)
                title.draw(picture, seconds)
                container.mux(film.encode(_video_frame(picture, number, profile)))
                if voice:
                    # Sound lies beside its pictures, so that a player need not jump in the file.
                    voice.write_until(seconds + 1)
                if number % profile.frames_per_second == 0:
                    progress(number / frames)
            container.mux(film.encode(None))
            if voice:
                voice.write_until(math.inf)
                voice.end()
        return Path(path).read_bytes()


@contextmanager
def _scratch_file() -> Iterator[str]:
    """Give the name of a file for a while: FFmpeg moves the index to the front in a second pass and needs a real one.

    On Linux it has no name in any folder, so that nothing is left of it when the process is killed.
    """
    with tempfile.TemporaryFile() as file:
        kept = f"/proc/self/fd/{file.fileno()}"
        if os.path.exists(kept):
            yield kept
            return
    with tempfile.TemporaryDirectory(prefix="animastor-video-") as directory:
        yield str(Path(directory) / "video.mp4")


def _film_stream(container: OutputContainer, profile: Profile) -> VideoStream:
    film = container.add_stream("libx264", rate=profile.frames_per_second, options=X264)
    film.width, film.height, film.pix_fmt = profile.width, profile.height, "yuv420p"
    film.gop_size = KEY_FRAME_S * profile.frames_per_second
    context = film.codec_context
    context.color_range, context.colorspace = ColorRange.MPEG, Colorspace.ITU709
    context.color_primaries, context.color_trc = ColorPrimaries.BT709, ColorTrc.BT709
    return film


def _video_frame(picture: Plane, number: int, profile: Profile) -> av.VideoFrame:
    shown = av.VideoFrame.from_ndarray(picture, format="yuv420p")
    shown.pts, shown.time_base = number, Fraction(1, profile.frames_per_second)
    shown.color_range, shown.colorspace = ColorRange.MPEG, Colorspace.ITU709
    return shown


class _Voice:
    """The sound track: the narration, then silence up to the length of the pictures."""

    def __init__(self, container: OutputContainer, narration: Narration, length_s: float) -> None:
        self._container, self._rate = container, narration.rate
        self._stream = container.add_stream("aac", rate=narration.rate, layout="mono")
        self._stream.bit_rate = AAC_BITS
        self._samples = np.zeros(max(round(length_s * narration.rate), len(narration.samples)), np.float32)
        self._samples[: len(narration.samples)] = narration.samples
        self._place = 0

    def write_until(self, seconds: float) -> None:
        while self._place < min(len(self._samples), seconds * self._rate):
            chunk = self._samples[None, self._place : self._place + AAC_SAMPLES]
            sound = av.AudioFrame.from_ndarray(chunk, "fltp", "mono")
            sound.sample_rate, sound.time_base, sound.pts = self._rate, Fraction(1, self._rate), self._place
            self._container.mux(self._stream.encode(sound))
            self._place += AAC_SAMPLES

    def end(self) -> None:
        self._container.mux(self._stream.encode(None))
