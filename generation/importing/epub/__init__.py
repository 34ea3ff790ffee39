"""Read an EPUB 2 or 3: chapters by its table of contents, text without mark-up, notes and page numbers."""

from collections.abc import Iterable
from itertools import chain

from generation.exceptions import ImportRefused
from generation.importing.archive import Archive
from generation.importing.names import title_of
from generation.importing.parsed import ParsedBook, ParsedChapter, language_code

from .contents import Entry, read_contents
from .documents import Block, blocks_of, is_matter
from .package import Package, read_package
from .xml import parse

TITLE_MAX = 500
TITLES_BETWEEN = " · "


def read_epub(archive: Archive, filename: str) -> ParsedBook:
    """Return the book in the zip.

    Raises ImportRefused, with the reason: no EPUB, damaged, protected, entities of its own, no spine, no text.
    """
    package = read_package(archive)
    chapters = _chapters(archive, package)
    if not chapters:
        raise ImportRefused("The EPUB contains no text.")
    return ParsedBook(
        title=package.title[:TITLE_MAX] or title_of(filename),
        author=package.author[:TITLE_MAX],
        language=language_code(package.language),
        encoding="utf-8",
        chapters=tuple(chapters),
        cover=archive.read(package.cover) if package.cover in archive else b"",
        is_titled=bool(package.title),
    )


def _chapters(archive: Archive, package: Package) -> list[ParsedChapter]:
    entries = read_contents(archive, package)
    collected: list[tuple[str, list[Block]]] = [("", [])]
    for name in package.spine:
        root = parse(archive.read(name), name)
        mine = [entry for entry in entries if entry.document == name]
        if is_matter(root) and not mine:
            continue
        if not mine and not entries:
            mine = [Entry("", name, "")]
        try:
            _collect(blocks_of(root), mine, collected)
        except RecursionError:
            raise ImportRefused(f"{name!r} is nested too deeply.") from None
    read = [_chapter(title, blocks) for title, blocks in collected]
    return [chapter for chapter in read if chapter is not None]


def _collect(blocks: Iterable[Block], entries: list[Entry], collected: list[tuple[str, list[Block]]]) -> None:
    """Add the blocks of one document, beginning a chapter wherever the table of contents says so."""
    starts: dict[str, list[str]] = {}
    for entry in entries:
        starts.setdefault(entry.fragment, []).append(entry.title)
    if "" in starts:
        collected.append((_joined(starts.pop("")), []))
    for block in blocks:
        here = [fragment for fragment in starts if fragment in block.ids]
        if here:
            # A part and its first chapter often begin at one place.
            collected.append((_joined(chain.from_iterable(starts.pop(fragment) for fragment in here)), []))
        collected[-1][1].append(block)
    # A place that does not exist still is a chapter of this document, if it is the only one named.
    if len(entries) == 1 and starts and collected:
        title, body = collected[-1]
        collected[-1] = (title or _joined(next(iter(starts.values()))), body)


def _joined(titles: Iterable[str]) -> str:
    return TITLES_BETWEEN.join(dict.fromkeys(filter(None, titles)))


def _chapter(title: str, blocks: list[Block]) -> ParsedChapter | None:
    """Return the chapter without the headings at its top, which its title says already; None without any text."""
    headings: list[str] = []
    body = list(blocks)
    while body and (body[0].is_heading or (title and _same(body[0].text, title))):
        headings.append(body.pop(0).text)
    if not body:
        return None
    named = title or " ".join(headings)
    return ParsedChapter(named[:TITLE_MAX], tuple(block.text for block in body))


def _same(one: str, other: str) -> bool:
    return "".join(filter(str.isalnum, one)).casefold() == "".join(filter(str.isalnum, other)).casefold()
