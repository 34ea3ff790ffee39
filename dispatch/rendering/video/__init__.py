"""Film a scene: the camera moves over its pictures while it is read; its title first, its subtitles beside it."""

import hashlib
import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from dispatch.failures import BadOutput
from dispatch.rendering.narration import sound
from dispatch.rendering.tools import RenderedFile, Tools
from generation.importing.sentences import narration_s
from generation.roles import SUBTITLES, pictures_of

from .encoding import Narration, encode
from .profiles import PROFILES
from .shots import Shots
from .title import Title

LARGEST_SIDE_PX, SMALLEST_SIDE_PX = 2560, 270
PAPER = (250, 246, 236)
# A scene that nobody reads is shown about as long as reading takes.
SHORTEST_SILENT_S, LONGEST_SILENT_S = 6.0, 60.0


def render(envelope: Mapping[str, Any], tools: Tools) -> list[RenderedFile]:
    """Return `main`, an MP4 with H.264 and, if there is a narration, AAC of its length, and `subtitles` as WebVTT.

    Without a narration among its inputs the video has no sound track: it is silent by declaration.
    Raises BadOutput when an input does not decode, and what `tools.read` raises when one is gone.
    """
    inputs, profile = envelope["inputs"], PROFILES[envelope["profile"]]
    ratio = profile.width / profile.height
    pictures = [_art(tools.read(name), ratio) for name in pictures_of(inputs["image"])]
    narration = _narration(inputs, tools)
    length = narration.seconds if narration else _silent_s(str(envelope["scene"]["text"]))
    book, chapter, scene = envelope["book"], envelope["chapter"], envelope["scene"]
    label = f"{chapter['title'] or 'Chapter ' + str(chapter['number'])} · {scene['number']}"
    title = Title(profile.width, profile.height, str(book["title"]), label)
    shots = Shots.of(pictures, _seed(str(scene["text"])), length)
    content = encode(shots, title, profile, narration, tools.progress)
    files = [RenderedFile("main", "video/mp4", content)]
    subtitles = inputs.get("audio", {}).get(SUBTITLES)
    if subtitles:
        files.append(RenderedFile(SUBTITLES, "text/vtt", tools.read(subtitles)))
    return files


def _art(content: bytes, ratio: float) -> Image.Image:
    """Return the picture cropped to the ratio of the video, never stretched, with sides of whole chroma pixels."""
    try:
        with Image.open(io.BytesIO(content)) as picture:
            # A camera never needs more; a huge picture as it is would take gigabytes.
            picture.thumbnail((LARGEST_SIDE_PX, LARGEST_SIDE_PX))
            art = _coloured(picture)
    except Exception as error:  # a decoder fed with anything raises anything
        raise BadOutput(f"The picture of the scene does not decode: {error}") from error
    if min(art.size) < SMALLEST_SIDE_PX:
        scale = SMALLEST_SIDE_PX / min(art.size)
        art = art.resize((round(art.width * scale), round(art.height * scale)))
    width = min(art.width, round(art.height * ratio)) // 4 * 4
    height = min(art.height, round(width / ratio)) // 4 * 4
    left, top = (art.width - width) // 2, (art.height - height) // 2
    return art.crop((left, top, left + width, top + height))


def _coloured(picture: Image.Image) -> Image.Image:
    """Return any picture as RGB: 16 bits of grey keep their range, and what is transparent shows paper."""
    if picture.mode.startswith("I"):
        grey = np.asarray(picture, np.float32)
        white = 255 if grey.max() <= 255 else max(65_535.0, float(grey.max()))
        return Image.fromarray((grey / white * 255).astype(np.uint8), "L").convert("RGB")
    if picture.has_transparency_data:
        paper = Image.new("RGBA", picture.size, (*PAPER, 255))
        return Image.alpha_composite(paper, picture.convert("RGBA")).convert("RGB")
    return picture.convert("RGB")


def _narration(inputs: Mapping[str, Any], tools: Tools) -> Narration | None:
    if "audio" not in inputs:
        return None
    content = tools.read(inputs["audio"]["main"])
    try:
        samples, rate = sound.decode(content)
    except Exception as error:
        raise BadOutput(f"The narration of the scene does not decode: {error}") from error
    if len(samples) == 0:
        raise BadOutput("The narration of the scene is empty.")
    return Narration(samples, rate)


def _silent_s(text: str) -> float:
    return min(LONGEST_SILENT_S, max(SHORTEST_SILENT_S, narration_s(text)))


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8])
