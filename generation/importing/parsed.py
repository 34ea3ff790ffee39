"""What a reader of a file format returns. No rows."""

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ParsedImage:
    """One picture of a scene, as a bundle asks for it."""

    key: str
    prompt: str


@dataclass(frozen=True)
class ParsedScene:
    text: str
    key: str = ""  # the file's own name for the scene, once in its chapter; empty when it has none
    title: str = ""
    images: tuple[ParsedImage, ...] = ()


@dataclass(frozen=True)
class ParsedChapter:
    """`scenes` are those the file is made of; without them the paragraphs are cut into scenes."""

    title: str
    paragraphs: tuple[str, ...] = ()
    key: str = ""
    scenes: tuple[ParsedScene, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return self.paragraphs or tuple(scene.text for scene in self.scenes)


@dataclass(frozen=True)
class ParsedBook:
    title: str
    author: str
    language: str  # ISO 639-1, empty when unknown
    encoding: str  # what the bytes were read as
    key: str = ""  # the file's own name for the book
    chapters: tuple[ParsedChapter, ...] = field(default=())
    cover: bytes = b""  # a picture file, empty without one
    is_titled: bool = True  # False when the title is only the name of the file


LANGUAGES = {"english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "russian": "ru"}


def language_code(value: str) -> str:
    """Return the ISO 639-1 code of what a file says, such as "English" or "pt-BR"; empty when it says nothing known."""
    value = value.strip().lower()
    return LANGUAGES.get(value, value[:2] if re.fullmatch(r"[a-z]{2}([-_][a-z0-9-]+)?", value) else "")
