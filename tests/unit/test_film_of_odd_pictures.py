"""Pictures of any kind and shape, as a hub may send them, become the art of a video."""

import io

import numpy as np
import pytest
from PIL import Image

from dispatch.failures import BadOutput
from dispatch.rendering.video import LARGEST_SIDE_PX, PAPER, _art

RATIO = 16 / 9


def art_of(picture: Image.Image, form: str = "PNG") -> Image.Image:
    buffer = io.BytesIO()
    picture.save(buffer, form)
    return _art(buffer.getvalue(), RATIO)


@pytest.mark.long
@pytest.mark.parametrize("size", [(1920, 1080), (16, 8), (18, 18), (16, 2000), (2000, 16), (1080, 1920), (6000, 4000)])
def test_any_shape_is_cropped_to_the_ratio_and_to_whole_chroma_pixels(size):
    art = art_of(Image.new("RGB", size, (10, 20, 30)))
    assert abs(art.width / art.height - RATIO) < 0.05
    assert (art.width % 4, art.height % 4) == (0, 0)
    assert max(art.size) <= LARGEST_SIDE_PX


@pytest.mark.parametrize("level", [0, 20_000, 65_535])
def test_sixteen_bits_of_grey_keep_their_brightness(level):
    values = np.full((90, 160), level, np.uint16)
    values[0, 0] = 65_535
    assert abs(np.asarray(art_of(Image.fromarray(values))).mean() - level / 65_535 * 255) < 2


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_shows_paper_and_not_what_is_hidden(mode):
    hidden = Image.new("RGBA", (160, 90), (255, 0, 0, 0))
    picture = hidden.convert(mode) if mode != "P" else hidden.quantize(4)
    assert np.abs(np.asarray(art_of(picture)).reshape(-1, 3).mean(axis=0) - PAPER).max() < 3


@pytest.mark.parametrize("content", [b"", b"rust" * 1000])
def test_what_is_no_picture_is_bad_output(content):
    with pytest.raises(BadOutput, match="does not decode"):
        _art(content, RATIO)
