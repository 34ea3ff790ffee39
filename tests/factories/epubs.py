"""EPUB files made piece by piece, good ones and bad ones."""

import io
import zipfile
from collections.abc import Mapping

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>"""
METADATA = """<dc:title>The Whale</dc:title><dc:creator>Herman Melville</dc:creator><dc:language>en-US</dc:language>"""
SENTENCE = "The ship sailed on through the long grey morning, and nobody spoke. "


def document(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">'
        f"<head><title>x</title></head><body>{body}</body></html>"
    )


def package(items: str, spine: str, *, metadata: str = METADATA, toc: str = "") -> str:
    return (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f"<manifest>{items}</manifest><spine{toc}>{spine}</spine></package>"
    )


def item(name: str, *, media: str = "application/xhtml+xml", properties: str = "") -> str:
    extra = f' properties="{properties}"' if properties else ""
    return f'<item id="{name.split(".")[0]}" href="{name}" media-type="{media}"{extra}/>'


def archive(files: Mapping[str, str | bytes], **options: object) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content, **options)
    return buffer.getvalue()


def files_of_epub3(chapters: Mapping[str, str], cover: bytes = b"") -> dict[str, str | bytes]:
    """Return the files of an EPUB 3 with one document per chapter title, and a nav."""
    names = {title: f"c{number}.xhtml" for number, title in enumerate(chapters, start=1)}
    links = "".join(f'<li><a href="{name}">{title}</a></li>' for title, name in names.items())
    items = item("nav.xhtml", properties="nav") + "".join(map(item, names.values()))
    if cover:
        items += item("cover.png", media="image/png", properties="cover-image")
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/content.opf": package(
            items, "".join(f'<itemref idref="{name.split(".")[0]}"/>' for name in names.values())
        ),
        "OEBPS/nav.xhtml": document(f'<nav epub:type="toc"><ol>{links}</ol></nav>'),
        **{f"OEBPS/{names[title]}": document(body) for title, body in chapters.items()},
        **({"OEBPS/cover.png": cover} if cover else {}),
    }


def files_of_epub2(body: str, points: Mapping[str, str]) -> dict[str, str | bytes]:
    """Return the files of an EPUB 2 with one document and an NCX: title → fragment."""
    entries = "".join(
        f'<navPoint id="n{fragment}"><navLabel><text>{title}</text></navLabel>'
        f'<content src="text/book.html{"#" + fragment if fragment else ""}"/></navPoint>'
        for title, fragment in points.items()
    )
    items = '<item id="book" href="text/book.html" media-type="application/xhtml+xml"/>'
    items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    return {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/content.opf": package(items, '<itemref idref="book"/>', toc=' toc="ncx"'),
        "OEBPS/toc.ncx": f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{entries}</navMap></ncx>',
        "OEBPS/text/book.html": document(body),
    }
