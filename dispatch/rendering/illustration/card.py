"""The card: the art, darkened towards the bottom, with the book's title, the place in it, and the first words."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from .fonts import display_font, text_font
from .palette import PALETTES
from .words import Look

MARGIN = 0.07  # of the width
TITLE_LINES = 2
EXCERPT_LINES = 3
EXCERPT_CHARACTERS = 400
PAPER = (250, 246, 236)

Run = tuple[str, ImageFont.FreeTypeFont]


def draw_card(art: Image.Image, look: Look, *, title: str, label: str, excerpt: str) -> Image.Image:
    """Return a new image of the art's size; letters are wrapped and cut with … where they do not fit."""
    card = _darkened(art)
    draw = ImageDraw.Draw(card)
    width, height = card.size
    left, room = int(width * MARGIN), int(width * (1 - 2 * MARGIN))
    accent = PALETTES[look.mood].light
    blocks = [
        (_wrapped(title, int(height * 0.072), room, TITLE_LINES, heading=True), PAPER, 1.18),
        (_wrapped(label, int(height * 0.030), room, 1), accent, 1.9),
        (
            _wrapped(" ".join(excerpt[:EXCERPT_CHARACTERS].split()), int(height * 0.036), room, EXCERPT_LINES),
            PAPER,
            1.32,
        ),
    ]
    y = height * 0.93 - sum(_line_height(line) * spacing for lines, _, spacing in blocks for line in lines)
    for lines, colour, spacing in blocks:
        for line in lines:
            y += _line_height(line) * spacing
            _draw_line(draw, left, y, line, colour)
    return card


def _darkened(art: Image.Image) -> Image.Image:
    pixels = np.asarray(art, dtype=np.float32)
    shade = np.linspace(0, 1, art.height, dtype=np.float32)[:, None, None]
    return Image.fromarray((pixels * (1 - 0.72 * shade**1.3)).astype(np.uint8), "RGB")


def _wrapped(text: str, size: int, room: int, most: int, *, heading: bool = False) -> list[list[Run]]:
    split = display_font if heading else text_font
    lines: list[str] = []
    rest = _breakable(text, size, room)
    while rest and len(lines) < most:
        taken = 1
        while taken < len(rest) and _width(split(" ".join(rest[: taken + 1]), size)) <= room:
            taken += 1
        lines.append(" ".join(rest[:taken]))
        rest = rest[taken:]
    if rest and lines:
        lines[-1] = _cut(lines[-1], size, room, heading=heading)
    return [split(line, size) for line in lines]


def _breakable(text: str, size: int, room: int) -> list[str]:
    """Split into words; one wider than the line (a long token, CJK) is cut into pieces that surely fit."""
    piece = max(1, room // size)
    words: list[str] = []
    for word in text.split():
        if len(word) * size * 0.6 <= room:
            words.append(word)
        else:
            words += [word[start : start + piece] for start in range(0, len(word), piece)]
    return words


def _cut(line: str, size: int, room: int, *, heading: bool) -> str:
    split = display_font if heading else text_font
    while line and _width(split(f"{line} …", size)) > room:
        line = line[:-1]
    return f"{line.rstrip(' ,;:.—–-')} …"


def _width(line: list[Run]) -> float:
    return sum(font.getlength(text) for text, font in line)


def _line_height(line: list[Run]) -> float:
    return max((font.size for _, font in line), default=0)


def _draw_line(
    draw: ImageDraw.ImageDraw, x: float, baseline: float, line: list[Run], colour: tuple[int, int, int]
) -> None:
    for text, font in line:
        draw.text((x + 2, baseline + 2), text, font=font, fill=(0, 0, 0), anchor="ls")
        draw.text((x, baseline), text, font=font, fill=colour, anchor="ls")
        x += font.getlength(text)
