"""One speech engine in a process of its own: `python -m dispatch.rendering.voice_engine ENGINE VOICE SPEED PARENT`.

Reads a JSON list of texts; writes per text its sample rate and number of samples, two little-endian 32-bit numbers,
and the samples, 16 bits each. A native library that hangs or dies takes nothing else with it, and espeak, which is
under the GPL, stays outside of the application.
"""

import ctypes
import hashlib
import json
import struct
import sys
from collections.abc import Callable
from typing import Any

from dispatch.processes import die_with_parent

HEADER = struct.Struct("<II")
# The engine runs, but does not know the voice.
UNKNOWN_VOICE = 3
HIBARI_RATE, PICO_RATE = 24_000, 16_000
ESPEAK_SYNCHRONOUS, ESPEAK_UTF8, ESPEAK_RATE = 2, 1, 1
ESPEAK_WORDS_PER_MINUTE = 160

Speak = Callable[[str], bytes]


def hibari(voice: str, speed: float) -> tuple[int, Speak]:
    import numpy as np
    from hibari import Hibari

    model = Hibari(voice=voice)

    def speak(text: str) -> bytes:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
        samples = model(text, speed=speed, seed=seed)
        return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes() if np.isfinite(samples).all() else b""

    return HIBARI_RATE, speak


def pico(voice: str, speed: float) -> tuple[int, Speak]:
    from py_nanotts import NanoTTS

    engine = NanoTTS()
    return PICO_RATE, lambda text: engine.speak(text, voice=voice, speed=speed)


def espeak(voice: str, speed: float) -> tuple[int, Speak]:
    import espeakng_loader

    library = ctypes.CDLL(espeakng_loader.get_library_path())
    rate = library.espeak_Initialize(ESPEAK_SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0)
    if library.espeak_SetVoiceByName(voice.encode()) != 0:
        sys.exit(UNKNOWN_VOICE)
    library.espeak_SetParameter(ESPEAK_RATE, round(ESPEAK_WORDS_PER_MINUTE * speed), 0)
    spoken = bytearray()

    def collect(samples: Any, number: int, _: Any) -> int:
        if samples and number:
            spoken.extend(ctypes.string_at(samples, number * 2))
        return 0

    called = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)(collect)

    def speak(text: str) -> bytes:
        spoken.clear()
        library.espeak_SetSynthCallback(called)
        content = text.encode()
        library.espeak_Synth(content, len(content) + 1, 0, 0, 0, ESPEAK_UTF8, None, None)
        library.espeak_Synchronize()
        return bytes(spoken)

    return rate, speak


ENGINES: dict[str, Callable[[str, float], tuple[int, Speak]]] = {"hibari": hibari, "pico": pico, "espeak": espeak}


def main(engine: str, voice: str, speed_percent: str, parent_pid: str) -> None:
    die_with_parent(int(parent_pid))
    rate, speak = ENGINES[engine](voice, int(speed_percent) / 100)
    for text in json.load(sys.stdin):
        try:
            samples = speak(text)
        except Exception as error:  # one sentence it cannot read; the others are worth hearing
            sys.stderr.write(f"{text[:80]!r}: {error!r}\n")
            samples = b""
        sys.stdout.buffer.write(HEADER.pack(rate, len(samples) // 2) + samples[: len(samples) // 2 * 2])
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
