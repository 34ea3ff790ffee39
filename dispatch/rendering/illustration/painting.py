"""Sky, light, clouds, haze and finish. Works on float arrays of shape (height, width, 3), values 0–1."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from .motifs import draw_motif
from .noise import fractal, ridge_line
from .palette import PALETTES, Colour, Palette
from .words import Look, Mood, Motif

Canvas = NDArray[np.float32]

HORIZON = 0.62  # of the height
RIDGES = 4
GRAIN = 0.018
VIGNETTE = 0.34


def paint(look: Look, rng: np.random.Generator, width: int, height: int) -> Image.Image:
    """Return the finished art as an RGB image of the given size."""
    palette = PALETTES[look.mood]
    canvas = _sky(palette, width, height)
    _stars(canvas, palette, rng)
    light_x = float(rng.uniform(0.18, 0.82))
    _light(canvas, palette, light_x)
    _clouds(canvas, palette, rng)
    _land(canvas, look, palette, rng)
    canvas = draw_motif(canvas, look, palette, rng, light_x)
    if look.mood in (Mood.STORM, Mood.WINTER):
        _falling(canvas, look.mood, rng)
    return _finish(canvas, rng)


def rgb(colour: Colour) -> Canvas:
    return np.asarray(colour, dtype=np.float32) / 255.0


def _gradient(stops: Sequence[tuple[float, Colour]], rows: int) -> Canvas:
    at = np.linspace(0.0, 1.0, rows)
    places = [place for place, _ in stops]
    channels = [np.interp(at, places, [colour[channel] / 255.0 for _, colour in stops]) for channel in range(3)]
    return np.stack(channels, axis=1).astype(np.float32)


def _sky(palette: Palette, width: int, height: int) -> Canvas:
    stops = [
        (0.0, palette.sky_top),
        (HORIZON * 0.55, palette.sky_middle),
        (HORIZON, palette.horizon),
        (1.0, palette.far),
    ]
    return np.repeat(_gradient(stops, height)[:, None, :], width, axis=1)


def _stars(canvas: Canvas, palette: Palette, rng: np.random.Generator) -> None:
    height, width, _ = canvas.shape
    rows = rng.integers(0, int(height * HORIZON * 0.8), palette.stars)
    columns = rng.integers(0, width - 1, palette.stars)
    brightness = rng.uniform(0.2, 0.9, palette.stars).astype(np.float32)[:, None]
    for row_step, column_step, share in ((0, 0, 1.0), (0, 1, 0.5), (1, 0, 0.5)):
        canvas[rows + row_step, columns + column_step] += brightness * share


def _light(canvas: Canvas, palette: Palette, light_x: float) -> None:
    if not palette.light_radius:
        return
    height, width, _ = canvas.shape
    y, x = np.ogrid[0:height, 0:width]
    centre_y, centre_x = height * HORIZON * palette.light_height, width * light_x
    distance = np.sqrt((y - centre_y) ** 2 + (x - centre_x) ** 2).astype(np.float32)
    radius = height * palette.light_radius
    disc = np.clip((radius - distance) / 2.5 + 0.5, 0, 1)
    glow = np.exp(-distance / (radius * 5.5)) * 0.55
    strength = np.maximum(disc * 0.95, glow)[..., None]
    canvas += (rgb(palette.light) - canvas) * strength


def _clouds(canvas: Canvas, palette: Palette, rng: np.random.Generator) -> None:
    height, width, _ = canvas.shape
    rows = int(height * HORIZON)
    field = fractal(rng, rows, width, cells=3, stretch=3.2)
    edge = float(np.quantile(field, 1.0 - palette.clouds))
    density = np.clip((field - edge) / 0.28, 0, 1)
    fade = np.linspace(1.0, 0.25, rows, dtype=np.float32)[:, None]
    shade = fractal(rng, rows, width, cells=5, stretch=2.4)[..., None] * 0.25
    colour = rgb(palette.cloud) - shade * 0.5
    canvas[:rows] += (colour - canvas[:rows]) * (density * fade * 0.82)[..., None]


def _land(canvas: Canvas, look: Look, palette: Palette, rng: np.random.Generator) -> None:
    """Haze ridges, far to near; a sea shows only the farthest ones behind it."""
    height, width, _ = canvas.shape
    shown = {Motif.SEA: 1, Motif.ROOM: 2}.get(look.motif, RIDGES)
    steepness = 2.6 if look.motif == Motif.MOUNTAINS else 1.0
    rows = np.arange(height, dtype=np.float32)[:, None]
    for index in range(shown):
        depth = index / (RIDGES - 1)
        base = height * (HORIZON - 0.02 + 0.30 * depth)
        relief = height * (0.055 + 0.035 * depth) * steepness * (1.0 - 0.55 * depth if steepness > 1 else 1.0)
        line = base - ridge_line(rng, width, octaves=5 + (steepness > 1)) * relief
        cover = np.clip(rows - line[None, :] + 0.5, 0, 1)[..., None]
        colour = rgb(palette.far) * (1 - depth) + rgb(palette.near) * depth
        mist = np.clip((rows - line[None, :]) / (height * 0.25), 0, 1)[..., None] * 0.22
        canvas += ((colour + (rgb(palette.horizon) - colour) * mist) - canvas) * cover


def _falling(canvas: Canvas, mood: Mood, rng: np.random.Generator) -> None:
    """Rain as slanted strokes, snow as soft dots."""
    height, width, _ = canvas.shape
    number, length = (1400, 26) if mood == Mood.STORM else (1500, 2)
    rows, columns = rng.integers(0, height, number), rng.integers(0, width, number)
    strength = 0.10 if mood == Mood.STORM else 0.65
    for step in range(length):
        slant = step // 4 if mood == Mood.STORM else 0
        row, column = (rows + step) % height, (columns - slant) % width
        canvas[row, column] += (1.0 - canvas[row, column]) * strength
        if mood == Mood.WINTER:
            canvas[row, (column + 1) % width] += (1.0 - canvas[row, (column + 1) % width]) * strength


def _finish(canvas: Canvas, rng: np.random.Generator) -> Image.Image:
    height, width, _ = canvas.shape
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    shade = 1.0 - VIGNETTE * np.clip((x * x + y * y) / 2.0, 0, 1) ** 1.5
    canvas = canvas * shade.astype(np.float32)[..., None]
    canvas += rng.normal(0.0, GRAIN, (height, width, 1)).astype(np.float32)
    return Image.fromarray((np.clip(canvas, 0, 1) * 255).astype(np.uint8), "RGB")
