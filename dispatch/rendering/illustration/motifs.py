"""What stands in front: ship, trees, houses, a window. Drawn as masks at twice the size, so that edges are smooth."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from .palette import Palette
from .words import Look, Mood, Motif

Canvas = NDArray[np.float32]
Point = tuple[float, float]

HORIZON = 0.62


class Masks:
    """Two masks of the picture, drawn in fractions of its height: the dark shape, and what glows in it."""

    def __init__(self, width: int, height: int) -> None:
        self.size = (width, height)
        self.scale = height * 2
        self.shape = Image.new("L", (width * 2, height * 2))
        self.glow = Image.new("L", (width * 2, height * 2))
        self._shape = ImageDraw.Draw(self.shape)
        self._glow = ImageDraw.Draw(self.glow)

    @property
    def aspect(self) -> float:
        return self.size[0] / self.size[1]

    def polygon(self, points: list[Point], *, glow: bool = False) -> None:
        draw = self._glow if glow else self._shape
        draw.polygon([(x * self.scale, y * self.scale) for x, y in points], fill=255)

    def line(self, points: list[Point], thickness: float, *, glow: bool = False) -> None:
        draw = self._glow if glow else self._shape
        draw.line(
            [(x * self.scale, y * self.scale) for x, y in points], fill=255, width=max(1, int(thickness * self.scale))
        )

    def box(self, x: float, y: float, width: float, height: float, *, glow: bool = False) -> None:
        self.polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], glow=glow)

    def ellipse(self, x: float, y: float, rx: float, ry: float, *, glow: bool = False) -> None:
        draw = self._glow if glow else self._shape
        corners = [(x - rx) * self.scale, (y - ry) * self.scale, (x + rx) * self.scale, (y + ry) * self.scale]
        draw.ellipse(corners, fill=255)


def draw_motif(canvas: Canvas, look: Look, palette: Palette, rng: np.random.Generator, light_x: float) -> Canvas:
    """Return the canvas with the look's motif in front of it; hills and mountains stand alone."""
    if look.motif == Motif.SEA:
        _water(canvas, palette, rng, light_x)
    draw = DRAWERS.get(look.motif)
    if draw is None:
        return canvas
    height, width, _ = canvas.shape
    masks = Masks(width, height)
    draw(masks, rng)
    shape = _reduced(masks.shape)
    near = np.asarray(palette.near, dtype=np.float32) / 255.0
    canvas += (near * 0.8 - canvas) * shape
    if look.mood in (Mood.NIGHT, Mood.DUSK, Mood.FIRE, Mood.STORM) or look.motif == Motif.ROOM:
        light = np.asarray(palette.light, dtype=np.float32) / 255.0
        canvas += (light - canvas) * _reduced(masks.glow) * 0.85
    return canvas


def _reduced(mask: Image.Image) -> Canvas:
    return (np.asarray(mask.reduce(2), dtype=np.float32) / 255.0)[..., None]


def _water(canvas: Canvas, palette: Palette, rng: np.random.Generator, light_x: float) -> None:
    """A sea below the horizon: darker towards us, rows of swell, a path of light under sun or moon."""
    height, width, _ = canvas.shape
    top = int(height * HORIZON)
    rows = height - top
    depth = np.linspace(0, 1, rows, dtype=np.float32)[:, None]
    horizon = np.asarray(palette.horizon, dtype=np.float32) / 255.0
    near = np.asarray(palette.near, dtype=np.float32) / 255.0
    base = (horizon * 0.72)[None, None, :] * (1 - depth[..., None]) + near[None, None, :] * depth[..., None]
    x = np.linspace(0, 1, width, dtype=np.float32)[None, :]
    swell = np.zeros((rows, width), dtype=np.float32)
    for octave in range(5):
        frequency = 26 * 1.7**octave
        bend = float(rng.uniform(-2.5, 2.5))
        phase = float(rng.uniform(0, 6.28))
        perspective = 1.0 / (0.06 + depth)
        swell += np.sin(perspective * frequency * 0.35 + x * frequency * bend + phase) / (1.6**octave)
    canvas[top:] = base + (swell * 0.028 * (0.35 + depth))[..., None]
    if palette.light_radius:
        path = np.exp(-(((x - light_x) / (0.015 + 0.10 * depth)) ** 2)) * np.clip(swell * 0.5 + 0.35, 0, 1)
        light = np.asarray(palette.light, dtype=np.float32) / 255.0
        canvas[top:] += (light - canvas[top:]) * (path * 0.7)[..., None]


def _ship(masks: Masks, rng: np.random.Generator) -> None:
    """A three-master at the horizon or nearer."""
    size = float(rng.uniform(0.16, 0.30))
    x, y = float(rng.uniform(0.3, 0.7)) * masks.aspect, HORIZON + 0.02 + size * 0.28
    lean = float(rng.uniform(-0.04, 0.04))
    hull = [(-0.62, -0.10), (-0.50, 0.06), (0.46, 0.06), (0.66, -0.16), (0.44, -0.07), (-0.40, -0.06)]
    masks.polygon([(x + px * size, y + py * size) for px, py in hull])
    masks.line([(x + 0.6 * size, y - 0.14 * size), (x + 0.92 * size, y - 0.34 * size)], size * 0.018)
    for mast, height in ((-0.36, 0.82), (0.0, 1.0), (0.34, 0.86)):
        top = (x + (mast + lean) * size, y - height * size)
        masks.line([(x + mast * size, y - 0.06 * size), top], size * 0.02)
        for level in (0.30, 0.56, 0.80):
            _sail(
                masks, x + (mast + lean * level) * size, y - level * height * size, size * (0.20 - 0.10 * level), size
            )
    for window in (-0.3, -0.1, 0.1, 0.3):
        masks.ellipse(x + window * size, y, size * 0.014, size * 0.014, glow=True)


def _sail(masks: Masks, x: float, y: float, half: float, size: float) -> None:
    belly = 0.05 * size
    masks.polygon(
        [
            (x - half, y),
            (x + half, y),
            (x + half * 1.15 + belly, y + size * 0.19),
            (x - half * 1.15 + belly, y + size * 0.19),
        ]
    )


def _trees(masks: Masks, rng: np.random.Generator) -> None:
    for row, count in ((0.90, 26), (1.0, 16)):
        for place in np.sort(rng.uniform(-0.02, 1.02, count)):
            height = float(rng.uniform(0.26, 0.52)) * (0.75 if row < 1 else 1.15)
            x, foot = float(place) * masks.aspect, row + 0.03
            if rng.random() < 0.72:
                _fir(masks, x, foot, height)
            else:
                _leafy(masks, x, foot, height, rng)


def _fir(masks: Masks, x: float, foot: float, height: float) -> None:
    masks.line([(x, foot), (x, foot - height)], height * 0.03)
    tiers = 6
    for tier in range(tiers):
        bottom = foot - height * (0.12 + 0.86 * tier / tiers)
        half = height * 0.21 * (1 - tier / tiers) + height * 0.02
        masks.polygon([(x - half, bottom), (x + half, bottom), (x, bottom - height * 0.27)])


def _leafy(masks: Masks, x: float, foot: float, height: float, rng: np.random.Generator) -> None:
    masks.line([(x, foot), (x, foot - height * 0.7)], height * 0.045)
    for _ in range(40):
        angle, reach = float(rng.uniform(0, 2 * np.pi)), float(np.sqrt(rng.uniform(0, 1)))
        radius = height * float(rng.uniform(0.05, 0.10))
        dx, dy = np.cos(angle) * reach * 0.20, np.sin(angle) * reach * 0.22
        masks.ellipse(x + dx * height, foot - height * (0.74 + dy), radius, radius * 0.9)


def _houses(masks: Masks, rng: np.random.Generator) -> None:
    x = -0.05
    spire_at = float(rng.uniform(0.3, 0.7)) * masks.aspect
    while x < masks.aspect + 0.05:
        width, height = float(rng.uniform(0.09, 0.17)), float(rng.uniform(0.16, 0.32))
        top = 1.0 - height
        masks.box(x, top, width, height + 0.05)
        masks.polygon([(x - 0.008, top), (x + width + 0.008, top), (x + width / 2, top - width * 0.55)])
        masks.box(x + width * 0.72, top - width * 0.46, width * 0.13, width * 0.4)
        _windows(masks, x, top, width, height, rng)
        if x < spire_at <= x + width:
            masks.box(x + width * 0.3, top - 0.16, width * 0.4, 0.2)
            masks.polygon(
                [(x + width * 0.24, top - 0.16), (x + width * 0.76, top - 0.16), (x + width * 0.5, top - 0.42)]
            )
        x += width + float(rng.uniform(-0.01, 0.02))


def _windows(masks: Masks, x: float, top: float, width: float, height: float, rng: np.random.Generator) -> None:
    for row in range(int(height / 0.075)):
        for column in range(max(1, int(width / 0.05))):
            if rng.random() < 0.55:
                masks.box(x + 0.018 + column * 0.046, top + 0.022 + row * 0.07, 0.017, 0.028, glow=True)


def _window_frame(masks: Masks, rng: np.random.Generator) -> None:
    """A dark room, the view through its window, a lamp on the sill."""
    left, right = 0.30 * masks.aspect, 0.70 * masks.aspect
    top, sill = 0.12, 0.80
    masks.box(0, 0, left, 1)
    masks.box(right, 0, masks.aspect - right, 1)
    masks.box(left, 0, right - left, top)
    masks.box(left, sill, right - left, 1 - sill)
    for share in (1 / 3, 2 / 3):
        masks.line([(left + (right - left) * share, top), (left + (right - left) * share, sill)], 0.010)
    masks.line([(left, top + (sill - top) * 0.42), (right, top + (sill - top) * 0.42)], 0.010)
    lamp = left + (right - left) * float(rng.uniform(0.2, 0.8))
    masks.polygon([(lamp - 0.05, sill), (lamp + 0.05, sill), (lamp + 0.022, sill - 0.05), (lamp - 0.022, sill - 0.05)])
    masks.ellipse(lamp, sill - 0.10, 0.034, 0.052)
    masks.ellipse(lamp, sill - 0.095, 0.020, 0.036, glow=True)


DRAWERS: dict[Motif, Callable[[Masks, np.random.Generator], None]] = {
    Motif.SEA: _ship,
    Motif.FOREST: _trees,
    Motif.TOWN: _houses,
    Motif.ROOM: _window_frame,
}
