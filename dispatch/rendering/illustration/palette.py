"""Colours of a mood: sky from top to horizon, the body of light in it, and the land from far to near. RGB, 0–255."""

from dataclasses import dataclass

from .words import Mood

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Palette:
    sky_top: Colour
    sky_middle: Colour
    horizon: Colour
    light: Colour  # sun, moon, fire glow, lit windows
    cloud: Colour
    far: Colour
    near: Colour
    stars: int = 0
    clouds: float = 0.45  # share of the sky
    light_radius: float = 0.035  # of the picture's height; 0 hides it
    light_height: float = 0.55  # of the sky, from the top


PALETTES: dict[Mood, Palette] = {
    Mood.DAY: Palette(
        (72, 128, 186),
        (142, 186, 218),
        (226, 232, 226),
        (255, 248, 220),
        (255, 255, 255),
        (142, 170, 176),
        (46, 74, 62),
        light_height=0.3,
    ),
    Mood.DAWN: Palette(
        (84, 104, 156),
        (212, 160, 172),
        (255, 214, 170),
        (255, 236, 200),
        (255, 226, 214),
        (150, 132, 152),
        (58, 54, 72),
        light_height=0.82,
    ),
    Mood.DUSK: Palette(
        (46, 44, 92),
        (176, 84, 92),
        (250, 166, 94),
        (255, 214, 140),
        (232, 142, 118),
        (112, 72, 96),
        (34, 26, 44),
        light_height=0.86,
    ),
    Mood.NIGHT: Palette(
        (8, 14, 34),
        (22, 36, 70),
        (58, 78, 112),
        (240, 240, 222),
        (70, 86, 122),
        (34, 46, 74),
        (8, 12, 24),
        stars=420,
        clouds=0.28,
        light_height=0.34,
    ),
    Mood.STORM: Palette(
        (32, 38, 46),
        (66, 76, 84),
        (122, 128, 124),
        (214, 218, 200),
        (28, 32, 40),
        (62, 72, 78),
        (18, 22, 28),
        clouds=0.8,
        light_radius=0.0,
    ),
    Mood.WINTER: Palette(
        (122, 146, 172),
        (184, 200, 214),
        (236, 238, 240),
        (255, 252, 240),
        (244, 248, 252),
        (176, 190, 204),
        (96, 112, 130),
        clouds=0.55,
        light_height=0.5,
    ),
    Mood.FIRE: Palette(
        (22, 12, 20),
        (92, 34, 26),
        (232, 118, 46),
        (255, 206, 120),
        (70, 32, 32),
        (84, 34, 30),
        (20, 10, 14),
        stars=60,
        clouds=0.5,
        light_radius=0.05,
        light_height=0.9,
    ),
}
