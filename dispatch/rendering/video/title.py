"""The title over the first seconds of a video."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from dispatch.rendering.illustration.fonts import display_font, text_font

from .planes import Plane, halved, planes_of

FontChooser = Callable[[str, int], list[tuple[str, ImageFont.FreeTypeFont]]]

SHOWN_S, FADE_S = 4.0, 0.6
PAPER = (250, 246, 236)
SHADE = 150  # darkness behind the letters, of 255
MARGIN = 0.06  # of the width


class Title:
    """Two lines, the book and the place in it, blended into frames of one size."""

    def __init__(self, width: int, height: int, title: str, label: str) -> None:
        self._top = height * 62 // 100 // 4 * 4
        picture, alpha = _drawn(width, height - self._top, title, label)
        planes = planes_of(picture)
        self._sources = [np.asarray(plane, np.float32) for plane in (planes.brightness, planes.blue, planes.red)]
        self._alpha = alpha
        self._half = halved(alpha)
        self._size = (width, height)

    def draw(self, frame: Plane, seconds: float) -> None:
        """Blend the title into the frame as it is at this time; does nothing once it has faded."""
        strength = min(1.0, seconds / FADE_S, (SHOWN_S - seconds) / FADE_S)
        if strength <= 0:
            return
        width, height = self._size
        flat = frame.reshape(-1)
        sizes = [(height, width), (height // 2, width // 2), (height // 2, width // 2)]
        place = 0
        for number, (source, (rows, columns)) in enumerate(zip(self._sources, sizes, strict=True)):
            plane = flat[place : place + rows * columns].reshape(rows, columns)
            alpha = (self._half if number else self._alpha) * strength
            region = plane[rows - source.shape[0] :]
            region[:] = (region * (1 - alpha) + source * alpha).astype(np.uint8)
            place += rows * columns


def _drawn(width: int, height: int, title: str, label: str) -> tuple[Image.Image, NDArray[np.float32]]:
    """Return the letters on black, and how much each pixel covers what is below it."""
    letters = Image.new("L", (width, height), 0)
    draw = ImageDraw.Draw(letters)
    left, room = width * MARGIN, width * (1 - 2 * MARGIN)
    size = height * 26 // 100
    for text, font_for, base, height_of_line in (
        (title, display_font, 0.62, size),
        (label, text_font, 0.84, size * 5 // 10),
    ):
        x = left
        for run, font in font_for(_fitting(text, font_for, height_of_line, room), height_of_line):
            draw.text((x, height * base), run, font=font, fill=255, anchor="ls")
            x += font.getlength(run)
    ink = np.asarray(letters, np.float32)[..., None] / 255
    picture = Image.fromarray((ink * np.array(PAPER, np.float32)).astype(np.uint8), "RGB")
    shade = np.linspace(0, SHADE / 255, height, dtype=np.float32)[:, None] * np.ones((1, width), np.float32)
    return picture, np.maximum(shade, ink[..., 0])


def _fitting(text: str, font_for: FontChooser, size: int, room: float) -> str:
    """Return as much of the text as one line holds; fonts are chosen per character, so it is measured as drawn."""
    shown = " ".join(text.split())
    if _width(font_for(shown, size)) <= room:
        return shown
    while shown and _width(font_for(f"{shown} …", size)) > room:
        shown = shown[:-1]
    return f"{shown.rstrip()} …"


def _width(line: list[tuple[str, ImageFont.FreeTypeFont]]) -> float:
    return sum(font.getlength(text) for text, font in line)
