"""Read a book from any file we understand; its content says what it is, not its name."""

from generation.exceptions import ImportRefused

from .epub import read_epub
from .parsed import ParsedBook
from .text import read_text

ZIP_MARK = b"PK\x03\x04"


def read_file(data: bytes, filename: str, encoding: str | None = None) -> ParsedBook:
    """Return the book in `data`, an EPUB or a plain text; `encoding` is for a text that is misread.

    Raises ImportRefused with the reason.
    """
    if not data.startswith(ZIP_MARK):
        return read_text(data, filename, encoding)
    if encoding:
        raise ImportRefused("An EPUB says itself what it is written in; leave the encoding out.")
    return read_epub(data, filename)
