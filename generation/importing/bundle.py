"""Read a bundle: book.json, and one chapters/*.json per chapter with its scenes and the prompts of their pictures."""

import json
import re
from pathlib import PurePath
from typing import Any

from rest_framework import serializers

from generation.exceptions import ImportRefused
from generation.strict import StrictSerializer, first_error

from .archive import Source, resolve
from .parsed import ParsedBook, ParsedChapter, ParsedImage, ParsedScene, language_code
from .text import paragraphs_of

BOOK = "book.json"
CHAPTERS = "chapters/"
# A text without a full stop is one scene, however long; what was exported must be importable.
KEY_MAX, TITLE_MAX, TEXT_MAX, PROMPT_MAX = 200, 500, 10_000_000, 4000
MOST_IMAGES = 20


def _text(most: int, **options: Any) -> serializers.CharField:
    return serializers.CharField(max_length=most, trim_whitespace=False, **options)


def _optional(most: int) -> serializers.CharField:
    return _text(most, required=False, allow_blank=True, default="")


class _Image(StrictSerializer):
    id = _text(KEY_MAX)
    prompt = _text(PROMPT_MAX)


class _Scene(StrictSerializer):
    id = _text(KEY_MAX)
    title = _optional(TITLE_MAX)
    text = _text(TEXT_MAX, allow_blank=True)
    images = serializers.ListField(child=_Image(), required=False, max_length=MOST_IMAGES)


class _Chapter(StrictSerializer):
    id = _text(KEY_MAX)
    title = _optional(TITLE_MAX)
    text = _optional(5 * TEXT_MAX)
    scenes = _Scene(many=True, required=False)


class _Book(StrictSerializer):
    id = _optional(KEY_MAX)
    title = _text(TITLE_MAX)
    author = _optional(TITLE_MAX)
    language = _optional(16)
    cover = _optional(KEY_MAX)
    chapters = serializers.ListField(child=_text(KEY_MAX), required=False, allow_empty=False)


def root_of(source: Source) -> str | None:
    """Return where the bundle lies, "" or the one folder that was packed, with its slash; None when it is none."""
    roots = [name[: -len(BOOK)] for name in source.names() if name == BOOK or name.endswith(f"/{BOOK}")]
    return min(roots, key=len) if roots and min(roots, key=len).count("/") <= 1 else None


def read_bundle(source: Source, root: str) -> ParsedBook:
    """Return the book. Raises ImportRefused, which names the file and the place in it."""
    book = _checked(_Book, source, root + BOOK)
    names = [resolve(root + BOOK, name) for name in book.get("chapters", [])] or _chapter_files(source, root)
    _require_once(names, "File", root + BOOK)
    if not names:
        raise ImportRefused(f"The bundle has no chapters: {CHAPTERS} holds no JSON file.")
    chapters = tuple(_chapter(_checked(_Chapter, source, name), name) for name in names)
    _require_once((chapter.key for chapter in chapters), "Chapter", root + BOOK)
    return ParsedBook(
        title=book["title"],
        author=book["author"],
        language=language_code(book["language"]),
        encoding="utf-8",
        key=book["id"],
        chapters=chapters,
        cover=source.read(resolve(root + BOOK, book["cover"])) if book["cover"] else b"",
    )


def _chapter_files(source: Source, root: str) -> list[str]:
    """Return the files of the chapters in the order people count: 2 before 10."""
    start = root + CHAPTERS
    found = [name for name in source.names() if name.startswith(start) and PurePath(name).suffix == ".json"]
    return sorted(found, key=_counted)


def _counted(name: str) -> list[Any]:
    """Return what sorts numbers in a name by their value, however long: zeros aside, the longer one is the larger."""
    parts = re.split(r"([0-9]+)", name)
    return [(len(part.lstrip("0")), part.lstrip("0")) if index % 2 else part for index, part in enumerate(parts)]


def _checked(serializer: type[StrictSerializer], source: Source, name: str) -> dict[str, Any]:
    try:
        data = json.loads(source.read(name).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ImportRefused(f"{name!r} is not UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"{name!r} is no JSON: {error}.") from None
    checked = serializer(data=data)
    if not checked.is_valid():
        raise ImportRefused(f"{name!r}: {first_error(checked.errors)}")
    return dict(checked.validated_data)


def _chapter(data: dict[str, Any], name: str) -> ParsedChapter:
    scenes = tuple(_scene(scene, name) for scene in data.get("scenes", []))
    if bool(scenes) == bool(data["text"].strip()):
        raise ImportRefused(f"{name!r}: a chapter has either scenes or a text to be cut into scenes.")
    _require_once((scene.key for scene in scenes), "Scene", name)
    return ParsedChapter(data["title"], tuple(paragraphs_of(data["text"])), data["id"], scenes)


def _scene(data: dict[str, Any], name: str) -> ParsedScene:
    images = tuple(ParsedImage(image["id"], image["prompt"]) for image in data.get("images", []))
    _require_once((image.key for image in images), "Image", name)
    text = data["text"].replace("\r\n", "\n").replace("\r", "\n")
    return ParsedScene(text, data["id"], data["title"], images)


def _require_once(keys: Any, noun: str, name: str) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise ImportRefused(f"{name!r}: {noun} {key!r} is there twice.")
        seen.add(key)
