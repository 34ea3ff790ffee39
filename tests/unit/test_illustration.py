import io

import numpy as np
import pytest
from PIL import Image

from dispatch.failures import FailureType, NothingToRender, failure_of
from dispatch.rendering import illustration
from dispatch.rendering.illustration import draw_art, render, seed_of
from dispatch.rendering.illustration.fonts import display_font
from dispatch.rendering.illustration.painting import paint
from dispatch.rendering.illustration.words import Look, Mood, Motif, look_of
from dispatch.rendering.tools import Tools


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Everything scales with the picture's size; a sixteenth of the pixels tells the same."""
    monkeypatch.setattr(illustration, "WIDTH", 480)
    monkeypatch.setattr(illustration, "HEIGHT", 270)


# It reads nothing, and is done before anybody could ask how far it is.
TOOLS = Tools(read=lambda name: b"", progress=lambda share: None)


def envelope(text, title="The Whale"):
    return {
        "book": {"title": title},
        "chapter": {"title": "Chapter 1", "number": 1},
        "scene": {"number": 1, "text": text},
    }


def opened(file):
    picture = Image.open(io.BytesIO(file.content))
    picture.load()
    return picture


def test_a_scene_gives_art_and_card_as_wide_pictures_that_decode():
    files = {file.role: file for file in render(envelope("The ship sailed through the storm."), TOOLS)}
    assert set(files) == {"main", "card"}
    for file in files.values():
        picture = opened(file)
        assert (picture.format, picture.width * 9) == ("WEBP", picture.height * 16)


def test_the_same_scene_always_gives_the_same_picture_and_another_text_another():
    look = Look(Mood.DUSK, Motif.TOWN)
    one, two = draw_art(look, seed_of("a", "b", "c")), draw_art(look, seed_of("a", "b", "c"))
    other = draw_art(look, seed_of("a", "b", "d"))
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != other.tobytes()


@pytest.mark.parametrize(
    ("text", "look"),
    [
        ("The gale howled and the ship fought the waves.", Look(Mood.STORM, Motif.SEA)),
        ("Ночью луна поднялась над тёмным лесом, и дерево шумело.", Look(Mood.NIGHT, Motif.FOREST)),
        ("Snow lay on the roofs of the town, and the street was white with frost.", Look(Mood.WINTER, Motif.TOWN)),
        ("Xyzzy plugh.", Look(Mood.DAY, Motif.HILLS)),
    ],
)
def test_the_words_choose_mood_and_motif(text, look):
    assert look_of(text) == look


@pytest.mark.parametrize("motif", Motif)
@pytest.mark.parametrize("mood", Mood)
def test_every_look_is_a_scene_with_light_and_shade_not_a_flat_field(mood, motif):
    pixels = np.asarray(paint(Look(mood, motif), np.random.default_rng(3), 320, 180), dtype=float)
    assert pixels.std() > 8
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 1000


@pytest.mark.parametrize("text", ["", "  \n ", "…!?", "🐳🌊"])
def test_a_scene_without_words_has_nothing_to_draw_for_good(text):
    with pytest.raises(NothingToRender) as raised:
        render(envelope(text), TOOLS)
    assert failure_of(raised.value).type == FailureType.PERMANENT


@pytest.mark.parametrize("title", ["Преступление и наказание", "موبي ديك", "白鯨", "x" * 500, "🐳 & <b>", "a\u0301"])
def test_a_card_is_drawn_for_any_title(title):
    assert {file.role for file in render(envelope("Words " * 300, title), TOOLS)} == {"main", "card"}


def test_cyrillic_letters_come_from_a_font_that_has_them():
    (run,) = display_font("Война и мир", 40)
    assert run[1].getmask("В").getbbox() != run[1].getmask("\ufffe").getbbox()
