"""Fonts from wheels, and which of them has a glyph for a character."""

from functools import lru_cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

from fontTools.ttLib import TTFont
from PIL import ImageFont

DISPLAY = ("fontpkg_playfair_display", "files/PlayfairDisplay[wght].ttf")
TEXT = ("fontpkg_eb_garamond", "files/EBGaramond[wght].ttf")
FALLBACK = "manimgx_fonts"


def display_font(text: str, size: int) -> list[tuple[str, ImageFont.FreeTypeFont]]:
    return runs(text, size, DISPLAY)


def text_font(text: str, size: int) -> list[tuple[str, ImageFont.FreeTypeFont]]:
    return runs(text, size, TEXT)


def runs(text: str, size: int, preferred: tuple[str, str]) -> list[tuple[str, ImageFont.FreeTypeFont]]:
    """Split the text into runs of one font each; a character no font has is drawn by the preferred one."""
    first = _directory(preferred[0]) / preferred[1]
    choices = [(character, _font_for(character, first)) for character in text]
    return [
        ("".join(character for character, _ in group), _load(path, size))
        for path, group in groupby(choices, key=lambda choice: choice[1])
    ]


@lru_cache(maxsize=4096)
def _font_for(character: str, first: Path) -> Path:
    if character.isspace() or ord(character) in _coverage(first):
        return first
    return next((path for path in _fallbacks() if ord(character) in _coverage(path)), first)


@lru_cache
def _coverage(path: Path) -> frozenset[int]:
    with TTFont(path, lazy=True) as font:
        return frozenset(font.getBestCmap())


@lru_cache
def _fallbacks() -> tuple[Path, ...]:
    found = sorted(_directory(FALLBACK).glob("*.ttf"))
    # The plain one covers Latin, Greek and Cyrillic, which most misses are.
    return tuple(sorted(found, key=lambda path: path.name != "NotoSans[wght].ttf"))


@lru_cache(maxsize=64)
def _load(path: Path, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(path, size)


@lru_cache
def _directory(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"The package {package} is missing; install requirements-local.txt.")
    return Path(spec.origin).parent
