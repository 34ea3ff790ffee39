"""Read a book from any file we understand; its content says what it is, not its name."""

from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from generation.exceptions import ImportRefused

from .archive import Archive, Folder
from .bundle import BOOK, read_bundle, root_of
from .epub import read_epub
from .languages import DETECTABLE_CHARACTERS, language_of
from .parsed import ParsedBook
from .text import read_text

ZIP_MARK = b"PK\x03\x04"
SAMPLE_TEXTS = 40


def read_path(path: Path, encoding: str | None = None) -> ParsedBook:
    """Return the book in a file or in the folder of a bundle. Raises ImportRefused, OSError."""
    if not path.is_dir():
        return read_file(path.read_bytes(), path.name, encoding)
    _refuse_encoding(encoding, "A bundle")
    folder = Folder(path)
    root = root_of(folder)
    if root is None:
        raise ImportRefused(f"The folder {path.name} is no bundle: it holds no {BOOK}.")
    return _with_language(read_bundle(folder, root))


def read_file(data: bytes, filename: str, encoding: str | None = None) -> ParsedBook:
    """Return the book in `data`: an EPUB, the zip of a bundle, or a plain text; `encoding` is for one that is misread.

    A file that does not say its language is looked at. Raises ImportRefused with the reason.
    """
    return _with_language(_read(data, filename, encoding))


def _read(data: bytes, filename: str, encoding: str | None) -> ParsedBook:
    if not data.startswith(ZIP_MARK):
        return read_text(data, filename, encoding)
    archive = Archive(data, "EPUB or bundle")
    root = root_of(archive)
    _refuse_encoding(encoding, "An EPUB" if root is None else "A bundle")
    return read_epub(archive, filename) if root is None else read_bundle(archive, root)


def _refuse_encoding(encoding: str | None, noun: str) -> None:
    if encoding:
        raise ImportRefused(f"{noun} says itself what it is written in; leave the encoding out.")


def _with_language(parsed: ParsedBook) -> ParsedBook:
    return parsed if parsed.language else replace(parsed, language=_detected(parsed))


def _detected(parsed: ParsedBook) -> str:
    """Return the language of the text, empty when it is too short to tell."""
    sample = " ".join(islice(chain.from_iterable(chapter.texts for chapter in parsed.chapters), SAMPLE_TEXTS))
    return language_of(sample, "") if len(sample) >= DETECTABLE_CHARACTERS else ""
