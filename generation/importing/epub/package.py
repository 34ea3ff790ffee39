"""The package of an EPUB: who wrote what, which documents in which order, where the table of contents lies."""

from dataclasses import dataclass, field
from urllib.parse import unquote

from generation.exceptions import ImportRefused
from generation.importing.archive import Archive, resolve

from .xml import Element, attribute, local, parse, text_of

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
RIGHTS = {"META-INF/rights.xml", "META-INF/sinf.xml"}
# Fonts are made useless outside of the book; that hides no text.
FONT_ALGORITHMS = {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
XHTML = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml"}
PICTURES = {"image/jpeg", "image/png", "image/webp", "image/gif"}


@dataclass
class Package:
    """`spine` are the documents in reading order; `nav` and `ncx` the tables of contents, empty without one."""

    title: str = ""
    author: str = ""
    language: str = ""
    spine: list[str] = field(default_factory=list)
    nav: str = ""
    ncx: str = ""
    cover: str = ""


@dataclass(frozen=True)
class _Item:
    name: str
    media_type: str
    properties: frozenset[str]


def read_package(archive: Archive) -> Package:
    """Raises ImportRefused for a protected book, and for one without a spine."""
    _refuse_protected(archive)
    name = _package_name(archive)
    root = parse(archive.read(name), name)
    package = Package()
    items = _manifest(root, name)
    _read_metadata(root, package, items)
    for item in items.values():
        if "nav" in item.properties:
            package.nav = item.name
        if "cover-image" in item.properties and item.media_type in PICTURES:
            package.cover = item.name
    _read_spine(root, package, items)
    if not package.spine:
        raise ImportRefused("The EPUB has no spine: it does not say which documents belong to the book.")
    return package


def _refuse_protected(archive: Archive) -> None:
    if RIGHTS & set(archive.names()):
        raise ImportRefused("The EPUB is protected (DRM). Import a copy without protection.")
    if ENCRYPTION not in archive:
        return
    for element in parse(archive.read(ENCRYPTION), ENCRYPTION).iter():
        if local(element) == "encryptionmethod" and attribute(element, "Algorithm") not in FONT_ALGORITHMS:
            raise ImportRefused("The EPUB is protected (DRM). Import a copy without protection.")


def _package_name(archive: Archive) -> str:
    if CONTAINER not in archive:
        raise ImportRefused(f"The file is no EPUB: it holds no {CONTAINER}.")
    for element in parse(archive.read(CONTAINER), CONTAINER).iter():
        if local(element) == "rootfile" and attribute(element, "full-path"):
            return resolve("", unquote(attribute(element, "full-path")))
    raise ImportRefused(f"{CONTAINER} names no package.")


def _manifest(root: Element, base: str) -> dict[str, _Item]:
    items = {}
    for element in root.iter():
        href = attribute(element, "href")
        if local(element) == "item" and href and "://" not in href:
            properties = frozenset(attribute(element, "properties").split())
            name = resolve(base, unquote(href.split("#")[0]))
            items[attribute(element, "id")] = _Item(name, attribute(element, "media-type").lower(), properties)
    return items


def _read_metadata(root: Element, package: Package, items: dict[str, _Item]) -> None:
    authors: list[str] = []
    for element in root.iter():
        match local(element):
            case "title" if not package.title:
                package.title = text_of(element)
            case "creator" if text_of(element):
                authors.append(text_of(element))
            case "language" if not package.language:
                package.language = text_of(element)
            case "meta" if attribute(element, "name") == "cover":
                item = items.get(attribute(element, "content"))
                if item is not None and item.media_type in PICTURES:
                    package.cover = item.name
    package.author = ", ".join(dict.fromkeys(authors))


def _read_spine(root: Element, package: Package, items: dict[str, _Item]) -> None:
    spine: dict[str, None] = {}
    for element in root.iter():
        if local(element) == "spine":
            toc = items.get(attribute(element, "toc"))
            package.ncx = toc.name if toc else ""
        # What is not linear is read beside the book: notes, answers, large pictures.
        if local(element) == "itemref" and attribute(element, "linear") != "no":
            item = items.get(attribute(element, "idref"))
            if item is not None and item.media_type in XHTML and item.name != package.nav:
                spine[item.name] = None
    # Each document once: naming one a thousand times makes a book of gigabytes.
    package.spine = list(spine)
    if not package.ncx:
        package.ncx = next((item.name for item in items.values() if item.media_type == "application/x-dtbncx+xml"), "")
