"""Who can speak which language here."""

from dataclasses import dataclass
from importlib.util import find_spec

from dispatch.failures import RenderError

HIBARI, PICO, ESPEAK = "hibari", "pico", "espeak"
# The package whose presence is an engine's.
PACKAGES = {HIBARI: "hibari", PICO: "py_nanotts", ESPEAK: "espeakng_loader"}


class NoVoice(RenderError):
    """Nothing installed speaks the language, or the wanted voice is not one of its voices."""

    reason = "no_voice"


@dataclass(frozen=True)
class Voice:
    """`name` is what a scene may ask for; `key` is the engine's own name of it."""

    engine: str
    name: str
    key: str


# Language → its voices, best first. Hibari has the one voice that its wheel holds; its others would be downloaded.
VOICES: dict[str, tuple[Voice, ...]] = {
    "en": (Voice(HIBARI, "heart", "heart"), Voice(PICO, "pico-us", "en-US"), Voice(PICO, "pico-gb", "en-GB")),
    "de": (Voice(PICO, "pico", "de-DE"),),
    "fr": (Voice(PICO, "pico", "fr-FR"),),
    "es": (Voice(PICO, "pico", "es-ES"),),
    "it": (Voice(PICO, "pico", "it-IT"),),
}
# What espeak calls a language when that is not its ISO 639-1 code.
ESPEAK_CODES = {"zh": "cmn", "no": "nb"}


def is_installed(engine: str) -> bool:
    return find_spec(PACKAGES[engine]) is not None


def voice_for(language: str, wanted: str = "") -> Voice:
    """Return the voice called `wanted`, or the language's best one that is installed.

    Raises NoVoice. What espeak speaks is known only to espeak: it may refuse the language itself.
    """
    known = [voice for voice in voices_of(language) if is_installed(voice.engine)]
    if not known:
        raise NoVoice(f"no voice for language {language}; requirements-espeak.txt adds some hundred languages")
    if not wanted:
        return known[0]
    for voice in known:
        if voice.name == wanted:
            return voice
    names = ", ".join(voice.name for voice in known)
    raise NoVoice(f"no voice {wanted!r} for language {language}; there is {names}")


def voices_of(language: str) -> tuple[Voice, ...]:
    return (*VOICES.get(language, ()), Voice(ESPEAK, "espeak", ESPEAK_CODES.get(language, language)))
