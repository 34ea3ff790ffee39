"""The documents of an EPUB as blocks of text, in reading order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .xml import Element, attribute, local

HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
BLOCKS = HEADINGS | {
    *("address", "article", "aside", "blockquote", "body", "caption", "dd", "div", "dl", "dt", "figcaption", "figure"),
    *("footer", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul", "hgroup"),
}
# Nothing in these is read aloud.
SILENT = {"head", "script", "style", "nav", "svg", "math", "audio", "video", "object", "iframe", "rt", "rp", "template"}
SILENT_TYPES = {"pagebreak", "noteref", "footnote", "footnotes", "endnote", "endnotes", "rearnote", "rearnotes", "toc"}
# Documents of these kinds are about the book, not of it.
MATTER = {"cover", "titlepage", "copyright-page", "toc", "landmarks", "index", "colophon", "imprint", "halftitlepage"}
NOTE_MARK = re.compile(r"^\[?\(?[\d*†‡§]{1,4}\)?\]?$")
SOFT_HYPHEN = "\u00ad"


@dataclass
class Block:
    """One paragraph or heading; `ids` are the places a link may lead to that lie at its beginning."""

    text: str
    is_heading: bool = False
    ids: set[str] = field(default_factory=set)


def is_matter(root: Element) -> bool:
    """True of a title page, a copyright page and the like."""
    for element in root.iter():
        if local(element) in ("body", "section"):
            if MATTER & set(attribute(element, "type").split()):
                return True
            if local(element) == "section":
                return False
    return False


def blocks_of(root: Element) -> list[Block]:
    """Return what is read of a document."""
    return list(_Reader().read(root))


class _Reader:
    def __init__(self) -> None:
        self._words: list[str] = []
        self._ids: set[str] = set()
        self._heading = 0

    def read(self, root: Element) -> Iterator[Block]:
        yield from self._walk(root)
        yield from self._flush()

    def _walk(self, element: Element) -> Iterator[Block]:
        tag = local(element)
        if tag and not _is_silent(element, tag):
            if tag in BLOCKS:
                yield from self._flush()
            self._note_id(element)
            self._heading += tag in HEADINGS
            if tag == "br":
                self._words.append(" ")
            self._words.append(element.text or "")
            for child in element:
                yield from self._walk(child)
            if tag in BLOCKS:
                yield from self._flush()
            self._heading -= tag in HEADINGS
        elif tag:
            self._note_id(element)
        self._words.append(element.tail or "")

    def _note_id(self, element: Element) -> None:
        for name in ("id", "name"):
            value = element.get(name)
            if value:
                self._ids.add(value)

    def _flush(self) -> Iterator[Block]:
        text = " ".join("".join(self._words).replace(SOFT_HYPHEN, "").split())
        self._words = []
        if text:
            yield Block(text, self._heading > 0, self._ids)
            self._ids = set()


def _is_silent(element: Element, tag: str) -> bool:
    if tag in SILENT or element.get("hidden") is not None or SILENT_TYPES & set(attribute(element, "type").split()):
        return True
    return tag == "sup" and _is_note_mark(element)


def _is_note_mark(element: Element) -> bool:
    """True of a raised number that leads somewhere; 10⁶ leads nowhere and is read."""
    if not NOTE_MARK.match("".join(str(text) for text in element.itertext()).strip()):
        return False
    return any(local(link) == "a" for link in (*element.iter(), *element.iterancestors()))
