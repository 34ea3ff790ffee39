"""The pictures of a scene one after another, each under a moving camera, the next fading in over the one before."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from .camera import Move
from .planes import Plane, Planes, frame, planes_of

FADE_S = 0.8


@dataclass(frozen=True)
class Shot:
    planes: Planes
    move: Move

    def frame(self, seconds: float, width: int, height: int) -> Plane:
        return frame(self.planes, self.move.box(seconds), width, height)


@dataclass(frozen=True)
class Shots:
    """Each is seen equally long, `length_s` in all."""

    shots: tuple[Shot, ...]
    length_s: float

    @classmethod
    def of(cls, pictures: Sequence[Image.Image], seed: int, length_s: float) -> "Shots":
        """Return the shots of a scene; the same seed gives the same moves."""
        each_s = length_s / len(pictures)
        shots = (
            Shot(planes_of(picture), Move.over(picture.size, seed + number, each_s))
            for number, picture in enumerate(pictures)
        )
        return cls(tuple(shots), length_s)

    def frame(self, seconds: float, width: int, height: int) -> Plane:
        """Return what is seen at this time, as the array that yuv420p frames are made of."""
        each_s = self.length_s / len(self.shots)
        number = min(len(self.shots) - 1, int(seconds / each_s))
        since_s = seconds - number * each_s
        shown = self.shots[number].frame(since_s, width, height)
        fade_s = min(FADE_S, each_s / 2)
        if number == 0 or since_s >= fade_s:
            return shown
        before = self.shots[number - 1].frame(each_s, width, height)
        share = since_s / fade_s
        mixed: Plane = np.rint(before * (1 - share) + shown * share).astype(np.uint8)
        return mixed
