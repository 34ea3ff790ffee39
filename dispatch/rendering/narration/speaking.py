"""Have an engine speak, in a process of its own with a time limit."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dispatch.failures import RenderError
from dispatch.rendering.voice_engine import HEADER, UNKNOWN_VOICE

from .voices import NoVoice, Voice

PROJECT = Path(__file__).resolve().parents[3]
MODULE = "dispatch.rendering.voice_engine"
# Engines speak 20 to 100 times faster than people; a machine may be busy.
LOAD_S, PER_PIECE_S = 60.0, 10.0
STDERR_TAIL = 300

Samples = NDArray[np.float32]


def speak(voice: Voice, texts: Sequence[str], speed_percent: int) -> tuple[int, list[Samples]]:
    """Return the sample rate and one array of samples (−1 to 1) per text.

    Raises NoVoice, TimeoutError when the engine hangs, and RenderError when it dies or says nothing.
    """
    command = [sys.executable, "-m", MODULE, voice.engine, voice.key, str(speed_percent), str(os.getpid())]
    limit = LOAD_S + PER_PIECE_S * len(texts)
    try:
        ended = subprocess.run(
            command, input=json.dumps(list(texts)).encode(), capture_output=True, cwd=PROJECT, timeout=limit
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"{voice.engine} did not speak {len(texts)} sentences within {limit:.0f} s") from None
    if ended.returncode == UNKNOWN_VOICE:
        raise NoVoice(f"no voice for language {voice.key}")
    if ended.returncode != 0:
        told = ended.stderr.decode(errors="replace").strip()[-STDERR_TAIL:]
        raise RenderError(f"{voice.engine} ended with code {ended.returncode}: {told}")
    return _read(voice, ended.stdout, len(texts))


def _read(voice: Voice, output: bytes, expected: int) -> tuple[int, list[Samples]]:
    spoken = list(_pieces(output))
    if len(spoken) != expected:
        raise RenderError(f"{voice.engine} spoke {len(spoken)} of {expected} sentences")
    return spoken[0][0], [samples for _, samples in spoken]


def _pieces(output: bytes) -> Iterator[tuple[int, Samples]]:
    place = 0
    while place < len(output):
        rate, number = HEADER.unpack_from(output, place)
        place += HEADER.size
        yield rate, np.frombuffer(output, "<i2", number, place).astype(np.float32) / np.float32(32768)
        place += 2 * number
