"""A scene with several pictures, each from a prompt of its own: one result, and a video that shows them all."""

import io

import av
import numpy as np
import pytest
from PIL import Image

from dispatch.models import Dispatch, Part
from dispatch.rendering import registry
from generation.commands import import_book, regenerate
from generation.importing.files import read_file
from generation.models import Asset, Book, ImageUnit
from generation.stages import StageName
from tests.factories.bundles import bundle, chapter, scene
from tests.flows.rendering import asset_of, draft, files_of, work  # noqa: F401 - fixtures

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

PROMPTS = ["a ship on the sea at dawn", "a forest in the snow", "a burning town at night"]


def import_with(actor, *prompts, update=False):
    images = [{"id": f"i{number}", "prompt": prompt} for number, prompt in enumerate(prompts)]
    parsed = read_file(bundle(chapter("c1", scene("s1", images=images))), "x.zip")
    return Book.objects.get(pk=import_book.apply(import_book.Request(parsed, "x", update), actor)["book"])


def pixels(content) -> np.ndarray:
    with Image.open(io.BytesIO(content)) as picture:
        return np.asarray(picture.convert("RGB").resize((64, 36)), int)


def test_every_prompt_becomes_a_picture_and_the_video_shows_them_one_after_another(actor, work):
    book = import_with(actor, *PROMPTS)
    regenerate.apply(regenerate.Request(book.pk, ("image", "video")), actor)
    work()
    pictures = files_of(asset_of(book, "image"))
    assert set(pictures) == {"main", "card", "picture-2", "picture-3"}
    looks = [pixels(pictures[role]) for role in ("main", "picture-2", "picture-3")]
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert np.abs(looks[one] - looks[other]).mean() > 10
    assert not Part.objects.exists()
    with av.open(io.BytesIO(files_of(asset_of(book, "video"))["main"])) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    for number, look in enumerate(looks):
        middle = frames[int((number + 0.6) * len(frames) / 3)]
        shown = np.asarray(Image.fromarray(middle).resize((64, 36)), int)
        distances = [abs(shown.mean((0, 1)) - other.mean((0, 1))).sum() for other in looks]
        assert distances.index(min(distances)) == number, look.shape


def test_each_picture_is_a_unit_of_its_own_and_one_picture_needs_no_joining(actor, work):
    book = import_with(actor, *PROMPTS)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    work()
    dispatch = Dispatch.objects.get()
    wanted = [f"iu-{pk}" for pk in ImageUnit.objects.order_by("number").values_list("pk", flat=True)]
    assert [unit for unit, _ in dispatch.units] == wanted
    assert Asset.objects.get(stage="image").parts_total == 0
    before = files_of(asset_of(book, "image"))
    book = import_with(actor, "a lamp in a room", update=True)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    work()
    after = files_of(asset_of(book, "image"))
    assert set(after) == {"main", "card"}
    assert after["main"] != before["main"]


def test_a_scene_that_asks_for_none_gets_one_from_its_text():
    assert registry.units_of(StageName.IMAGE, 7, "Words.") == [registry.Unit("iu-7", {})]
