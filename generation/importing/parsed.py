"""What a reader of a file format returns. No rows."""

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
