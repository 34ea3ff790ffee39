"""Read a book from any file we understand; its content says what it is, not its name."""

from dataclasses import replace
from itertools import chain, islice

from generation.exceptions import ImportRefused

from .epub import read_epub
from .languages import DETECTABLE_CHARACTERS, language_of
from .parsed import ParsedBook
from .text import read_text

ZIP_MARK = b"PK\x03\x04"
SAMPLE_PARAGRAPHS = 40


def read_file(data: bytes, filename: str, encoding: str | None = None) -> ParsedBook:
    """Return the book in `data`, an EPUB or a plain text; `encoding` is for a text that is misread.

    A file that does not say its language is looked at. Raises ImportRefused with the reason.
    """
    parsed = _read(data, filename, encoding)
    return parsed if parsed.language else replace(parsed, language=_detected(parsed))


def _read(data: bytes, filename: str, encoding: str | None) -> ParsedBook:
    if not data.startswith(ZIP_MARK):
        return read_text(data, filename, encoding)
    if encoding:
        raise ImportRefused("An EPUB says itself what it is written in; leave the encoding out.")
    return read_epub(data, filename)


def _detected(parsed: ParsedBook) -> str:
    """Return the language of the text, empty when it is too short to tell."""
    sample = " ".join(islice(chain.from_iterable(chapter.paragraphs for chapter in parsed.chapters), SAMPLE_PARAGRAPHS))
    return language_of(sample, "") if len(sample) >= DETECTABLE_CHARACTERS else ""
