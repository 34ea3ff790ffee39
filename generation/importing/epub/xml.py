"""XML and XHTML from strangers, read without their entities, DTDs and network."""

import html.entities
import re

from lxml import etree

from generation.exceptions import ImportRefused

DECLARED = re.compile(rb"""^[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
PROLOGUE = re.compile(r"^\s*(?:<\?xml[^>]*\?>)?\s*")
DOCTYPE = re.compile(r"<!DOCTYPE", re.IGNORECASE)
NAMED_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
NUMBERED_ENTITY = re.compile(r"&#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}));")
KEPT_ENTITIES = {"amp", "lt", "gt", "quot", "apos"}

Element = etree._Element


def parse(content: bytes, name: str) -> Element:
    """Return the root; broken mark-up is read as far as it goes. Raises ImportRefused for entities and no mark-up."""
    text = _decoded(content, name)
    if "<!ENTITY" in text:
        raise ImportRefused(f"{name!r} declares entities of its own; that is refused.")
    text = NAMED_ENTITY.sub(_character, PROLOGUE.sub("", _without_doctype(text), count=1))
    text = NUMBERED_ENTITY.sub(_numbered_character, text)
    # huge_tree: without it, what lies deeper than 256 elements is left out without a word.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ImportRefused(f"{name!r} cannot be read: {error}.") from None
    if root is None:
        raise ImportRefused(f"{name!r} holds no mark-up.")
    return root


def local(element: Element) -> str:
    """Return the tag without its namespace, in lower case; empty for comments."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """Return the attribute called `name` in any namespace, or an empty text."""
    for key, value in element.attrib.items():
        # Also with a prefix that nobody declared.
        if str(key).rpartition("}")[2].rpartition(":")[2] == name:
            return str(value).strip()
    return ""


def _without_doctype(text: str) -> str:
    found = DOCTYPE.search(text)
    if found is None:
        return text
    end, subset = text.find(">", found.end()), text.find("[", found.end())
    if 0 <= subset < end:
        end = text.find(">", text.find("]", subset))
    return text[: found.start()] + text[end + 1 :] if end >= 0 else text


def text_of(element: Element) -> str:
    return " ".join("".join(str(text) for text in element.itertext()).split())


def _decoded(content: bytes, name: str) -> str:
    declared = DECLARED.match(content)
    encoding = declared.group(1).decode() if declared else "utf-8"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    try:
        return content.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding, "replace")
    except (LookupError, ValueError):
        raise ImportRefused(f"{name!r} says it is written in {encoding!r}, which nobody knows.") from None


def _character(match: re.Match[str]) -> str:
    name = match.group(1)
    if name in KEPT_ENTITIES:
        return match.group()
    return html.entities.html5.get(f"{name};", "")


def _numbered_character(match: re.Match[str]) -> str:
    """Keep a numeric reference to a character that a document may have; lxml cannot read out any other."""
    number = int(match.group(1), 16) if match.group(1) else int(match.group(2))
    is_text = number in (0x9, 0xA, 0xD) or 0x20 <= number <= 0xD7FF or 0xE000 <= number <= 0xFFFD
    return match.group() if is_text or 0x10000 <= number <= 0x10FFFF else ""
