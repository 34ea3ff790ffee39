"""Spoken pieces become one sound: pauses, loudness, and files that decode everywhere."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import InputContainer

from generation.cues import Cue

from .speaking import Samples

SENTENCE_PAUSE_S, PARAGRAPH_PAUSE_S = 0.18, 0.45
# Speech of −20 dBFS is as loud as broadcast narration; peaks are bent, not cut.
LOUDNESS_DBFS = -20.0
LIMIT = 0.89
WINDOW_S = 0.02
# What lies this far below the loudest window is no speech and does not count for loudness.
GATE_DB = -30.0
MP3_BITS = 64_000
FRAME_SAMPLES = 4096


@dataclass(frozen=True)
class Spoken:
    """One piece as it was spoken, and how long the voice rests after it."""

    text: str
    samples: Samples
    pause_s: float


def join(pieces: Sequence[Spoken], rate: int, *, rests_at_end: bool) -> tuple[Samples, list[Cue]]:
    """Return the whole sound and its cues; the rest after the last piece is for a part that others follow."""
    sounds: list[Samples] = []
    cues: list[Cue] = []
    place = 0
    for number, piece in enumerate(pieces, start=1):
        cues.append(Cue(piece.text, place / rate, (place + len(piece.samples)) / rate))
        sounds.append(piece.samples)
        if rests_at_end or number < len(pieces):
            sounds.append(np.zeros(round(piece.pause_s * rate), np.float32))
        place = sum(map(len, sounds))
    return np.concatenate(sounds), cues


def levelled(samples: Samples, rate: int) -> Samples:
    """Return the sound at LOUDNESS_DBFS, measured where somebody speaks; what would exceed LIMIT bends towards 1."""
    level = speech_rms(samples, rate)
    if level == 0:
        return samples
    louder = samples * np.float32(10 ** (LOUDNESS_DBFS / 20) / level)
    over = np.abs(louder) > LIMIT
    bent = LIMIT + (1 - LIMIT) * np.tanh((np.abs(louder[over]) - LIMIT) / (1 - LIMIT))
    louder[over] = np.sign(louder[over]) * bent
    return louder


def speech_rms(samples: Samples, rate: int) -> float:
    """Return the root mean square of the windows with speech in them, 0 for silence."""
    size = max(1, round(WINDOW_S * rate))
    windows = samples[: len(samples) // size * size].reshape(-1, size)
    if len(windows) == 0:
        return 0.0
    power = (windows.astype(np.float64) ** 2).mean(axis=1)
    loud = power[power > power.max() * 10 ** (GATE_DB / 10)]
    return float(np.sqrt(loud.mean())) if len(loud) else 0.0


def encode_mp3(samples: Samples, rate: int) -> bytes:
    return _encode(samples, rate, "mp3", "libmp3lame", "s16p", MP3_BITS)


def encode_flac(samples: Samples, rate: int) -> bytes:
    """Return the sound without loss: what parts are kept in until they are joined."""
    return _encode(samples, rate, "flac", "flac", "s16", None)


def decode(content: bytes, rate: int | None = None) -> tuple[Samples, int]:
    """Return the samples of any sound as one channel, at `rate` or its own."""
    with cast(InputContainer, av.open(io.BytesIO(content))) as container:
        stream = container.streams.audio[0]
        wanted = rate or stream.rate
        resampler = av.AudioResampler("flt", "mono", wanted)
        chunks = [chunk.to_ndarray()[0] for frame in container.decode(stream) for chunk in resampler.resample(frame)]
        chunks += [chunk.to_ndarray()[0] for chunk in resampler.resample(None)]
    return (np.concatenate(chunks) if chunks else np.zeros(0, np.float32)), wanted


def _encode(samples: Samples, rate: int, form: str, codec: str, layout: str, bits: int | None) -> bytes:
    buffer = io.BytesIO()
    whole = (np.clip(samples, -1, 1) * 32767).astype(np.int16)
    with av.open(buffer, "w", format=form) as container:
        stream = cast(AudioStream, container.add_stream(codec, rate=rate, layout="mono"))
        stream.format = layout
        if bits is not None:
            stream.bit_rate = bits
        for start in range(0, len(whole), FRAME_SAMPLES):
            frame = av.AudioFrame.from_ndarray(whole[None, start : start + FRAME_SAMPLES], layout, "mono")
            frame.sample_rate, frame.time_base, frame.pts = rate, Fraction(1, rate), start
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode(None):
            container.mux(packet)
    return buffer.getvalue()
