"""Read a bundle: book.json, and one chapters/*.json per chapter with its scenes and the prompts of their pictures."""

import json
import re
from pathlib import PurePath
from typing import Any

from rest_framework import serializers

from generation.exceptions import ImportRefused

from .archive import Source, resolve
from .parsed import ParsedBook, ParsedChapter, ParsedImage, ParsedScene, language_code
from .text import paragraphs_of

BOOK = "book.json"
CHAPTERS = "chapters/"
KEY_MAX, TITLE_MAX, TEXT_MAX, PROMPT_MAX = 200, 500, 200_000, 4000
MOST_IMAGES = 20


class _Strict(serializers.Serializer[Any]):
    """Refuses what it does not know: a misspelled field would be left out without a word."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(map(str, data.keys() - self.fields.keys()))):
            raise serializers.ValidationError({name: ["This field is not known."] for name in unknown})
        return super().to_internal_value(data)


def _text(most: int, **options: Any) -> serializers.CharField:
    return serializers.CharField(max_length=most, trim_whitespace=False, **options)


def _optional(most: int) -> serializers.CharField:
    return _text(most, required=False, allow_blank=True, default="")


class _Image(_Strict):
    id = _text(KEY_MAX)
    prompt = _text(PROMPT_MAX)


class _Scene(_Strict):
    id = _text(KEY_MAX)
    title = _optional(TITLE_MAX)
    text = _text(TEXT_MAX, allow_blank=True)
    images = serializers.ListField(child=_Image(), required=False, max_length=MOST_IMAGES)


class _Chapter(_Strict):
    id = _text(KEY_MAX)
    title = _optional(TITLE_MAX)
    text = _optional(50 * TEXT_MAX)
    scenes = _Scene(many=True, required=False)


class _Book(_Strict):
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
    return sorted(found, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])


def _checked(serializer: type[_Strict], source: Source, name: str) -> dict[str, Any]:
    try:
        data = json.loads(source.read(name).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ImportRefused(f"{name!r} is not UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"{name!r} is no JSON: {error}.") from None
    checked = serializer(data=data)
    if not checked.is_valid():
        raise ImportRefused(f"{name!r}: {_first_error(checked.errors)}")
    return dict(checked.validated_data)


def _first_error(errors: Any, where: str = "") -> str:
    """Return the first error with its place, such as `scenes[3].text: This field is required.`"""
    if isinstance(errors, list):
        first = next((index, error) for index, error in enumerate(errors) if error)
        return _first_error(first[1], f"{where}[{first[0]}]") if isinstance(first[1], dict) else _told(where, first[1])
    field, error = next(iter(errors.items()))
    if isinstance(field, int):
        return _first_error(error, f"{where}[{field}]")
    if field == "non_field_errors":
        return _first_error(error, where)
    return _first_error(error, f"{where}.{field}" if where else str(field))


def _told(where: str, error: Any) -> str:
    return f"{where}: {error}" if where else str(error)


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
