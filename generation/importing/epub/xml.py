"""XML and XHTML from strangers, read without their entities, DTDs and network."""

import html.entities
import re

from lxml import etree

from generation.exceptions import ImportRefused

DECLARED = re.compile(rb"""^[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
PROLOGUE = re.compile(r"^\s*(?:<\?xml[^>]*\?>)?\s*")
DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*(\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)
NAMED_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
KEPT_ENTITIES = {"amp", "lt", "gt", "quot", "apos"}

Element = etree._Element


def parse(content: bytes, name: str) -> Element:
    """Return the root; broken mark-up is read as far as it goes. Raises ImportRefused for entities and no mark-up."""
    text = _decoded(content, name)
    doctype = DOCTYPE.search(text)
    if "<!ENTITY" in text:
        raise ImportRefused(f"{name!r} declares entities of its own; that is refused.")
    if doctype:
        text = text[: doctype.start()] + text[doctype.end() :]
    text = NAMED_ENTITY.sub(_character, PROLOGUE.sub("", text, count=1))
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=False)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ImportRefused(f"{name!r} cannot be read: {error}.") from None
    if root is None:
        raise ImportRefused(f"{name!r} holds no mark-up.")
    return root


def local(element: Element) -> str:
    """Return the tag without its namespace, in lower case; empty for comments."""
    return etree.QName(element).localname.lower() if isinstance(element.tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """Return the attribute called `name` in any namespace, or an empty text."""
    for key, value in element.attrib.items():
        if etree.QName(str(key)).localname == name:
            return str(value).strip()
    return ""


def text_of(element: Element) -> str:
    return " ".join("".join(str(text) for text in element.itertext()).split())


def _decoded(content: bytes, name: str) -> str:
    declared = DECLARED.match(content)
    encoding = declared.group(1).decode() if declared else "utf-8"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    try:
        return content.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding, "replace")
    except LookupError:
        raise ImportRefused(f"{name!r} says it is written in {encoding!r}, which nobody knows.") from None


def _character(match: re.Match[str]) -> str:
    name = match.group(1)
    if name in KEPT_ENTITIES:
        return match.group()
    return html.entities.html5.get(f"{name};", "")
