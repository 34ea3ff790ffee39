"""The table of contents of an EPUB: EPUB 3's nav, else EPUB 2's NCX."""

from dataclasses import dataclass
from urllib.parse import unquote

from generation.exceptions import ImportRefused
from generation.importing.archive import Archive, resolve

from .package import Package
from .xml import Element, attribute, local, parse, text_of


@dataclass(frozen=True)
class Entry:
    """A chapter begins in `document`, at the element with the id `fragment`, or at its top."""

    title: str
    document: str
    fragment: str


def read_contents(archive: Archive, package: Package) -> list[Entry]:
    """Return the entries in their order, parts and chapters alike; empty when the book has no readable table."""
    for name, reader in ((package.nav, _nav_entries), (package.ncx, _ncx_entries)):
        if name and name in archive:
            try:
                entries = reader(parse(archive.read(name), name), name)
            except ImportRefused:
                continue  # a broken table is no reason to refuse the book
            if entries:
                return entries
    return []


def _nav_entries(root: Element, base: str) -> list[Entry]:
    tables = [element for element in root.iter() if local(element) == "nav"]
    chosen = [table for table in tables if "toc" in attribute(table, "type").split()] or tables[:1]
    entries = []
    for table in chosen[:1]:
        for link in table.iter():
            if local(link) == "a" and attribute(link, "href"):
                entries.append(_entry(text_of(link), attribute(link, "href"), base))
    return [entry for entry in entries if entry is not None]


def _ncx_entries(root: Element, base: str) -> list[Entry]:
    entries = []
    for point in root.iter():
        if local(point) != "navpoint":
            continue
        children = list(point)
        label = next((text_of(child) for child in children if local(child) == "navlabel"), "")
        source = next((attribute(child, "src") for child in children if local(child) == "content"), "")
        if source:
            entries.append(_entry(label, source, base))
    return [entry for entry in entries if entry is not None]


def _entry(title: str, reference: str, base: str) -> Entry | None:
    if "://" in reference:
        return None
    path, _, fragment = reference.partition("#")
    return Entry(title, resolve(base, unquote(path)) if path else base, unquote(fragment))
