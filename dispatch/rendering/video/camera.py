"""Where the camera looks: a slow move over the art, slow at both ends."""

import math
import random
from dataclasses import dataclass

from .planes import Box

# The narrowest view, as a share of the art; the wider view is the rest of the move.
CLOSE, WIDE = 0.80, 0.96


@dataclass(frozen=True)
class View:
    """`zoom` is the share of the art that is seen; x and y say where, 0 for left and top, 1 for right and bottom."""

    zoom: float
    x: float
    y: float


@dataclass(frozen=True)
class Move:
    size: tuple[int, int]
    start: View
    end: View
    length_s: float

    @classmethod
    def over(cls, size: tuple[int, int], seed: int, length_s: float) -> "Move":
        """Return the move of a scene; the same seed gives the same one."""
        chance = random.Random(seed)  # noqa: S311 - chooses a view, guards nothing
        near = View(CLOSE, chance.uniform(0.15, 0.85), chance.uniform(0.2, 0.8))
        far = View(WIDE, 1 - near.x, 0.5)
        return cls(size, far, near, length_s) if chance.random() < 0.5 else cls(size, near, far, length_s)

    def box(self, seconds: float) -> Box:
        """Return what is seen at this time, in pixels of the art."""
        share = min(1.0, max(0.0, seconds / self.length_s))
        eased = (1 - math.cos(math.pi * share)) / 2
        zoom = self.start.zoom + (self.end.zoom - self.start.zoom) * eased
        x = self.start.x + (self.end.x - self.start.x) * eased
        y = self.start.y + (self.end.y - self.start.y) * eased
        width, height = self.size[0] * zoom, self.size[1] * zoom
        left, top = (self.size[0] - width) * x, (self.size[1] - height) * y
        return (left, top, left + width, top + height)
