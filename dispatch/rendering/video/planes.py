"""A picture as the three planes of YUV 4:2:0, BT.709, in which every frame is cut and scaled.

Scaling planes costs half of scaling RGB and converting each frame.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Plane = NDArray[np.uint8]
Values = NDArray[np.floating[Any]]
Box = tuple[float, float, float, float]

RED, BLUE = 0.2126, 0.0722
GREEN = 1 - RED - BLUE


@dataclass(frozen=True)
class Planes:
    """Brightness at full size, the two colour differences at half of it."""

    brightness: Image.Image
    blue: Image.Image
    red: Image.Image


def planes_of(picture: Image.Image) -> Planes:
    """Return the planes of an RGB picture with even sides."""
    pixels = np.asarray(picture.convert("RGB"), dtype=np.float32) / 255
    bright = RED * pixels[..., 0] + GREEN * pixels[..., 1] + BLUE * pixels[..., 2]
    blue = (pixels[..., 2] - bright) / (2 * (1 - BLUE))
    red = (pixels[..., 0] - bright) / (2 * (1 - RED))
    return Planes(_plane(16 + 219 * bright), _plane(128 + 224 * halved(blue)), _plane(128 + 224 * halved(red)))


def frame(planes: Planes, box: Box, width: int, height: int) -> Plane:
    """Return the part of the picture in `box`, scaled, as the array that yuv420p frames are made of."""
    half: Box = (box[0] / 2, box[1] / 2, box[2] / 2, box[3] / 2)
    bright = _scaled(planes.brightness, box, width, height)
    blue = _scaled(planes.blue, half, width // 2, height // 2)
    red = _scaled(planes.red, half, width // 2, height // 2)
    return np.concatenate([bright.reshape(-1), blue.reshape(-1), red.reshape(-1)]).reshape(height * 3 // 2, width)


def _scaled(plane: Image.Image, box: Box, width: int, height: int) -> Plane:
    return np.asarray(plane.resize((width, height), Image.Resampling.BILINEAR, box=box))


def _plane(values: Values) -> Image.Image:
    return Image.fromarray(np.clip(np.rint(values), 0, 255).astype(np.uint8), "L")


def halved(plane: Values) -> Values:
    rows, columns = plane.shape[0] // 2, plane.shape[1] // 2
    halved: Values = plane.reshape(rows, 2, columns, 2).mean(axis=(1, 3))
    return halved
