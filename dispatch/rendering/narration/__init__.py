"""Read a scene aloud: a voice of its language, a sound as loud as all others, and subtitles that fit it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dispatch.failures import BadOutput, NothingToRender
from dispatch.rendering.tools import RenderedFile, Tools
from generation import cues
from generation.cues import Cue
from generation.importing.languages import language_of
from generation.roles import SUBTITLES

from . import sound
from .sound import PARAGRAPH_PAUSE_S, SENTENCE_PAUSE_S, Spoken
from .speaking import Samples, speak
from .speech import pieces_of
from .voices import voice_for

# Below this nobody hears anything: −60 dBFS.
SILENCE = 0.001
SPOKEN = 0.7  # share of the work that is done when everything is spoken


def render(envelope: Mapping[str, Any], tools: Tools) -> list[RenderedFile]:
    """Return `main`, the sound, and `subtitles`, its WebVTT.

    The only part of a scene is an MP3 of the scene; one of several is lossless, levelled and joined later.
    Raises NothingToRender, NoVoice, BadOutput when the engine is silent, and what the engine's process comes to.
    """
    part, voice = envelope["part"], envelope["voice"]
    pieces = pieces_of(str(part["text"]))
    if not pieces:
        raise NothingToRender("The scene has no words to speak.")
    # All parts of a scene are read in its language; a part in another script is read by a voice of that.
    language = language_of(str(part["text"]), str(envelope["language"]))
    chosen = voice_for(language, str(voice["name"]) if language == envelope["language"] else "")
    rate, spoken = speak(chosen, [piece.text for piece in pieces], int(voice["speed_percent"]))
    tools.progress(SPOKEN)
    _require_sound(np.concatenate(spoken), language)
    # A sentence that the engine cannot read is mute; the others are worth hearing.
    heard = [
        Spoken(piece.text, samples, PARAGRAPH_PAUSE_S if piece.ends_paragraph else SENTENCE_PAUSE_S)
        for piece, samples in zip(pieces, spoken, strict=True)
        if len(samples)
    ]
    is_part = part["of"] > 1
    whole, subtitles = sound.join(heard, rate, rests_at_end=is_part and part["number"] < part["of"])
    if is_part:
        main = RenderedFile("main", "audio/flac", sound.encode_flac(whole, rate))
    else:
        main = RenderedFile("main", "audio/mpeg", sound.encode_mp3(sound.levelled(whole, rate), rate))
    return [main, RenderedFile(SUBTITLES, "text/vtt", cues.to_vtt(subtitles))]


def assemble(parts: Sequence[Mapping[str, bytes]]) -> list[RenderedFile]:
    """Join the sounds of parts, in the order given, with their subtitles if they have some; returns like `render`."""
    rate: int | None = None
    sounds: list[Samples] = []
    subtitles: list[Cue] = []
    place = 0.0
    for part in parts:
        samples, rate = sound.decode(part["main"], rate)
        sounds.append(samples)
        subtitles += [cue.shifted(place) for cue in cues.from_vtt(part.get(SUBTITLES, b""))]
        place += len(samples) / rate
    if rate is None:
        raise NothingToRender("There is no part to join.")
    whole = sound.levelled(np.concatenate(sounds), rate)
    files = [RenderedFile("main", "audio/mpeg", sound.encode_mp3(whole, rate))]
    if subtitles:
        files.append(RenderedFile(SUBTITLES, "text/vtt", cues.to_vtt(subtitles)))
    return files


def _require_sound(samples: Samples, language: str) -> None:
    if len(samples) == 0 or not np.isfinite(samples).all() or float(np.sqrt(np.mean(samples**2))) < SILENCE:
        raise BadOutput(f"The voice for language {language} said nothing.")
