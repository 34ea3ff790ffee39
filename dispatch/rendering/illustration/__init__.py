"""Draw the picture of a scene: a landscape whose mood and motif come from the scene's words. No network, no model."""

import hashlib
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

from dispatch.failures import NothingToRender
from dispatch.rendering.tools import RenderedFile, Tools
from generation.media import picture_type_of

from .card import draw_card
from .painting import paint
from .words import Look, look_of

# 16:9, what a video of the scene is cut from.
WIDTH, HEIGHT = 1920, 1080
WEBP_QUALITY = 86


def render(envelope: Mapping[str, Any], tools: Tools) -> list[RenderedFile]:
    """Return two WebP files: `main`, the art without letters, and `card`, the art with title, label and excerpt.

    The same envelope gives the same picture. A picture with a prompt is drawn from that; only a scene's first one has a
    card. Raises NothingToRender when the scene has no words.
    """
    text = str(envelope["scene"]["text"])
    if not any(character.isalnum() for character in text):
        raise NothingToRender("The scene has no words to draw from.")
    book, chapter, scene = envelope["book"], envelope["chapter"], envelope["scene"]
    picture = envelope.get("picture") or {"number": 1, "prompt": ""}
    subject = str(picture["prompt"]) or text
    look = look_of(subject)
    art = draw_art(look, seed_of(book["title"], chapter["title"], subject))
    files = [RenderedFile("main", "image/webp", webp(art))]
    if picture["number"] > 1:
        return files
    label = f"{chapter['title'] or 'Chapter ' + str(chapter['number'])} · {scene['number']}"
    card = draw_card(art, look, title=str(book["title"]), label=label, excerpt=text)
    return [*files, RenderedFile("card", "image/webp", webp(card))]


def assemble(parts: Sequence[Mapping[str, bytes]]) -> list[RenderedFile]:
    """Return the pictures of a scene as one result: `main` and `card` of the first, `picture-2` and so on."""
    contents = dict(parts[0])
    contents |= {f"picture-{number}": part["main"] for number, part in enumerate(parts[1:], start=2)}
    return [RenderedFile(role, picture_type_of(content), content) for role, content in contents.items()]


def draw_art(look: Look, seed: int) -> Image.Image:
    return paint(look, np.random.default_rng(seed), WIDTH, HEIGHT)


def seed_of(book_title: str, chapter_title: str, text: str) -> int:
    digest = hashlib.sha256("\x1f".join((book_title, chapter_title, text)).encode()).digest()
    return int.from_bytes(digest[:8])


def webp(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "WEBP", quality=WEBP_QUALITY, method=2)
    return buffer.getvalue()
