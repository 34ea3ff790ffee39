"""Films one after another as one MP4: copied packet by packet where they fit together, made anew where they do not."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

import av
import numpy as np
from av.container import InputContainer, OutputContainer
from numpy.typing import NDArray

FASTSTART = {"movflags": "+faststart"}
X264 = {"preset": "veryfast", "crf": "23"}
AAC_BITS, AAC_SAMPLES, SOUND_RATE = 96_000, 1024, 24_000

# Opens a film; called anew for every look at it, so that a chapter of a thousand films holds one file open.
Film = Callable[[], IO[bytes]]
Samples = NDArray[np.float32]


@dataclass(frozen=True)
class Shape:
    """What two films must have in common to be copied into one."""

    width: int
    height: int
    rate: Fraction
    film: tuple[str, Fraction, bytes]
    sound: tuple[str, int, int, bytes] | None


def stitch(films: Sequence[Film], target: Path) -> list[float]:
    """Write the films, one at least, to `target`; return where each begins, in seconds.

    Raises av.FFmpegError or ValueError for a film that does not decode.
    """
    shapes = [_shape(film) for film in films]
    if all(shape == shapes[0] for shape in shapes):
        return _copy(films, target)
    return _encode(films, shapes, target)


@contextmanager
def _opened(film: Film) -> Iterator[InputContainer]:
    with film() as file, av.open(file, "r") as container:
        yield container


def _base(timed: Any) -> Fraction:
    """Return the unit of the times of a stream or packet, in seconds."""
    return Fraction(timed.time_base)


def _shape(film: Film) -> Shape:
    with _opened(film) as container:
        if not container.streams.video or not container.streams.video[0].average_rate:
            raise ValueError("a film without pictures")
        video = container.streams.video[0]
        sound = None
        if container.streams.audio:
            heard = container.streams.audio[0]
            context = heard.codec_context
            sound = (context.name, context.sample_rate, context.channels, bytes(context.extradata or b""))
        codec = video.codec_context
        look = (codec.name, _base(video), bytes(codec.extradata or b""))
        return Shape(video.width, video.height, Fraction(video.average_rate or 0), look, sound)


def _copy(films: Sequence[Film], target: Path) -> list[float]:
    starts: list[float] = []
    begin = Fraction(0)
    with av.open(str(target), "w", format="mp4", options=FASTSTART) as output:
        with _opened(films[0]) as first:
            streams = [*first.streams.video[:1], *first.streams.audio[:1]]
            written = {stream.type: output.add_stream_from_template(stream) for stream in streams}
        for film in films:
            starts.append(float(begin))
            with _opened(film) as container:
                begin += _copy_packets(container, begin, output, written)
    return starts


def _copy_packets(
    container: InputContainer, begin: Fraction, output: OutputContainer, written: dict[Any, Any]
) -> Fraction:
    """Copy one film to its place and return its length. Sound outside of the pictures is the encoder's padding."""
    video = container.streams.video[0]
    length = (video.duration or 0) * _base(video)
    # A film need not begin at zero.
    first = (video.start_time or 0) * _base(video)
    for packet in container.demux([video, *container.streams.audio[:1]]):
        if packet.dts is None or packet.pts is None:
            continue
        base = _base(packet)
        if packet.stream.type == "audio" and not 0 <= packet.pts * base - first < length:
            continue
        shift = round((begin - first) / base)
        packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
        packet.stream = written[packet.stream.type]
        output.mux(packet)
    return length


def _encode(films: Sequence[Film], shapes: Sequence[Shape], target: Path) -> list[float]:
    """Encode again at the largest size and rate; a film without sound is silent for its length."""
    largest = max(shapes, key=lambda shape: shape.width * shape.height)
    rate = max(shape.rate for shape in shapes)
    starts: list[float] = []
    with av.open(str(target), "w", format="mp4", options=FASTSTART) as output:
        video = output.add_stream("libx264", rate=rate, options=X264)
        video.width, video.height, video.pix_fmt = largest.width, largest.height, "yuv420p"
        sound = _Sound(output) if any(shape.sound for shape in shapes) else None
        frames = 0
        for film in films:
            starts.append(float(frames / rate))
            for picture in _pictures(film, rate):
                shown = _fitted(picture, largest.width, largest.height)
                shown.pts, shown.time_base = frames, 1 / rate
                output.mux(video.encode(shown))
                frames += 1
            if sound:
                sound.write(film, math.ceil(frames / rate * SOUND_RATE))
        output.mux(video.encode(None))
        if sound:
            sound.end()
    return starts


class _Sound:
    """The sound track, in the frames that AAC is made of."""

    def __init__(self, output: OutputContainer) -> None:
        self._output = output
        self._stream = output.add_stream("aac", rate=SOUND_RATE, layout="mono")
        self._stream.bit_rate = AAC_BITS
        self._waiting: Samples = np.zeros(0, np.float32)
        self._place = 0

    def write(self, film: Film, until: int) -> None:
        """Append the sound of the film, cut or silent so that `until` samples are written in all."""
        heard = _samples(film, until - self._place - len(self._waiting))
        self._waiting = np.concatenate([self._waiting, heard])
        while len(self._waiting) >= AAC_SAMPLES:
            self._encode(self._waiting[:AAC_SAMPLES])
            self._waiting = self._waiting[AAC_SAMPLES:]

    def end(self) -> None:
        if len(self._waiting):
            self._encode(self._waiting)
        self._output.mux(self._stream.encode(None))

    def _encode(self, samples: Samples) -> None:
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[None]), "fltp", "mono")
        frame.sample_rate, frame.time_base, frame.pts = SOUND_RATE, Fraction(1, SOUND_RATE), self._place
        self._place += len(samples)
        self._output.mux(self._stream.encode(frame))


def _fitted(picture: av.VideoFrame, width: int, height: int) -> av.VideoFrame:
    """Return the picture as large as fits into the sides, on black; never stretched."""
    scale = min(width / picture.width, height / picture.height)
    inner = (min(width, round(picture.width * scale) // 2 * 2), min(height, round(picture.height * scale) // 2 * 2))
    if inner == (width, height):
        return picture.reformat(width, height, "yuv420p")
    shown = picture.reformat(*inner, "rgb24").to_ndarray()
    canvas = np.zeros((height, width, 3), np.uint8)
    left, top = (width - inner[0]) // 2, (height - inner[1]) // 2
    canvas[top : top + inner[1], left : left + inner[0]] = shown
    return av.VideoFrame.from_ndarray(canvas, format="rgb24").reformat(format="yuv420p")


def _pictures(film: Film, rate: Fraction) -> Iterator[av.VideoFrame]:
    """Yield the film's pictures at another rate: each as often as it is seen."""
    number = 0
    with _opened(film) as container:
        video = container.streams.video[0]
        seen_s = 1 / Fraction(video.average_rate or rate)
        first_s = (video.start_time or 0) * _base(video)
        for picture in container.decode(video):
            # Read before it is given away: an encoder writes its own times into it.
            until = Fraction(picture.time or 0) - first_s + seen_s - Fraction(1, 1000)
            while number / rate < until:
                yield picture
                number += 1


def _samples(film: Film, wanted: int) -> Samples:
    """Return exactly `wanted` samples of the film's sound, silence where it has none."""
    result = np.zeros(wanted, np.float32)
    place = 0
    resampler = av.AudioResampler("fltp", "mono", SOUND_RATE)
    with _opened(film) as container:
        heard = container.decode(audio=0) if container.streams.audio else iter(())
        for frame in heard:
            for piece in resampler.resample(frame):
                values = piece.to_ndarray()[0][: wanted - place]
                result[place : place + len(values)] = values
                place += len(values)
    return result
