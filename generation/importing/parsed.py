"""What a reader of a file format returns. No rows."""

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ParsedChapter:
    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class ParsedBook:
    title: str
    author: str
    language: str  # ISO 639-1, empty when unknown
    encoding: str  # what the bytes were read as
    chapters: tuple[ParsedChapter, ...] = field(default=())
    cover: bytes = b""  # a picture file, empty without one


LANGUAGES = {"english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "russian": "ru"}


def language_code(value: str) -> str:
    """Return the ISO 639-1 code of what a file says, such as "English" or "pt-BR"; empty when it says nothing known."""
    value = value.strip().lower()
    return LANGUAGES.get(value, value[:2] if re.fullmatch(r"[a-z]{2}([-_][a-z0-9-]+)?", value) else "")
