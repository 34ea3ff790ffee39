"""Smooth noise from a seeded generator."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

OCTAVES = 5


def fractal(rng: np.random.Generator, rows: int, columns: int, *, cells: int, stretch: float) -> NDArray[np.float32]:
    """Return a (rows, columns) field of values 0–1; `stretch` > 1 draws its shapes out sideways."""
    field = np.zeros((rows, columns), dtype=np.float32)
    weight, total = 1.0, 0.0
    for octave in range(OCTAVES):
        high = max(2, cells * 2**octave)
        wide = max(2, int(high * columns / rows / stretch))
        grid = Image.fromarray(rng.random((high, wide), dtype=np.float32), "F")
        field += np.asarray(grid.resize((columns, rows), Image.Resampling.BICUBIC)) * weight
        total += weight
        weight *= 0.5
    field /= total
    low, most = float(field.min()), float(field.max())
    return (field - low) / max(most - low, 1e-6)


def ridge_line(rng: np.random.Generator, columns: int, *, octaves: int) -> NDArray[np.float32]:
    """Return a height of 0–1 per column, like the outline of land."""
    line = np.zeros(columns, dtype=np.float32)
    weight = 1.0
    for octave in range(octaves):
        points = 4 * 2**octave
        heights = rng.random(points + 1)
        position = np.arange(columns) / (columns - 1) * points
        cell = np.minimum(position.astype(int), points - 1)
        within = position - cell
        smooth = within * within * (3 - 2 * within)
        line += ((heights[cell] * (1 - smooth) + heights[cell + 1] * smooth) * weight).astype(np.float32)
        weight *= 0.46
    return np.asarray((line - line.min()) / max(float(np.ptp(line)), 1e-6), dtype=np.float32)
