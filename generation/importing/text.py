"""Read a plain text file: encoding, header, chapters by headings, paragraphs."""

import codecs
import re
from itertools import pairwise

from charset_normalizer import from_bytes

from generation.exceptions import ImportRefused

from .names import title_of
from .parsed import ParsedBook, ParsedChapter, language_code

# Largest first: the UTF-32 mark begins with that of UTF-16.
BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LARGEST_FILE_BYTES = 50 * 1024 * 1024
LONGEST_HEADING = 120
SENTENCE_MARKS = tuple('.!?…:;,"”»')
HEADING_WORDS = (
    "chapter|part|book|prologue|epilogue|preface|introduction|foreword|afterword|letter|act|scene"
    "|глава|часть|книга|пролог|эпилог|предисловие|введение|послесловие"
    "|kapitel|teil|buch|vorwort|nachwort|chapitre|partie|livre|prologue|épilogue"
    "|capítulo|parte|libro|prólogo|epílogo|capitolo|prologo|epilogo"
)
ROMAN = r"(?=[ivxlc])(?:c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"
NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last"
    "|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|erstes|zweites|drittes|viertes|fünftes"
    "|un|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|premier|première|deuxième|troisième|second|seconde"
    "|uno|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|primo|prima|secondo|seconda|terzo|terza"
    "|dos|tres|cuatro|cinco|siete|ocho|nueve|diez|primero|primera|segundo|segunda|tercero|tercera"
)
# Ordinals of Russian by their stems: первая, вторая, …
ORDINAL = (
    rf"(?:\d{{1,3}}|{ROMAN}|(?:the\s+)?(?:{NUMBER_WORDS})(?:[\s-](?:{NUMBER_WORDS}))?"
    r"|(?:перв|втор|трет|четв[её]рт|пят|шест|седьм|восьм|девят|десят|одиннадцат|двенадцат|последн)[а-яё]{1,4})"
)
NUMBERED_HEADING = re.compile(rf"^(?:{HEADING_WORDS})\s+{ORDINAL}\s*(?:[.:—–-].*)?$", re.IGNORECASE)
# Without a number a heading is short and no sentence.
NAMED_HEADING = re.compile(rf"^(?:{HEADING_WORDS})\s*(?:[.:—–-][^.!?…]*)?$", re.IGNORECASE)
NUMBER_HEADING = re.compile(rf"^(?:(\d{{1,3}})|({ROMAN}))\.?$", re.IGNORECASE)
ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
# No pattern here may try a run of blank lines in more than one way.
BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")
HEADER_FIELD = re.compile(r"^(title|author|language)\s*:\s*(.+)$", re.IGNORECASE)
# What Project Gutenberg puts around a text. Other books have lines of asterisks of their own.
GUTENBERG = r"TH(?:E|IS) PROJECT GUTENBERG"
GUTENBERG_START = re.compile(rf"^\*{{3}}\s*START OF {GUTENBERG}.*\*{{3}}\s*$", re.IGNORECASE | re.MULTILINE)
GUTENBERG_END = re.compile(rf"^\*{{3}}\s*END OF {GUTENBERG}", re.IGNORECASE | re.MULTILINE)


def read_text(data: bytes, filename: str, encoding: str | None = None) -> ParsedBook:
    """Return the book in `data`; `encoding` overrides the detection.

    Raises ImportRefused when the file is too large, empty, not text, or not in the encoding that was given.
    """
    if len(data) > LARGEST_FILE_BYTES:
        raise ImportRefused(f"The file has {len(data)} bytes; {LARGEST_FILE_BYTES} is the most.")
    text, used = _decode(data, encoding)
    if "\x00" in text:
        raise ImportRefused("The file contains NUL characters; it is not a text file.")
    if not _is_text(text):
        raise ImportRefused(f"Read as {used}, the file contains half characters. Name its encoding.")
    header, body = _split_header(text.replace("\r\n", "\n").replace("\r", "\n"))
    chapters = _chapters(paragraphs_of(body))
    if not chapters:
        raise ImportRefused("The file contains no text.")
    title = _title_line(chapters)
    if title:
        header.setdefault("title", title)
        del chapters[0]
    return ParsedBook(
        title=header.get("title", title_of(filename))[:500],
        author=header.get("author", "")[:500],
        language=language_code(header.get("language", "")),
        encoding=used,
        chapters=tuple(chapters),
        is_titled="title" in header,
    )


def _decode(data: bytes, encoding: str | None) -> tuple[str, str]:
    """UTF-8 first, then detection: short Latin-1 text is misread by detection alone."""
    if encoding:
        return _decode_as(data, encoding)
    for mark, name in BOMS:
        if data.startswith(mark):
            return _decode_as(data, name)
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    best = from_bytes(data).best()
    if best is None:
        raise ImportRefused("The encoding of the file is not recognised, or it is no text. Name its encoding.")
    return _decode_as(data, best.encoding)


def _decode_as(data: bytes, encoding: str) -> tuple[str, str]:
    try:
        return data.decode(encoding), encoding
    except LookupError:
        raise ImportRefused(f"There is no encoding called {encoding!r}.") from None
    except UnicodeError as error:
        raise ImportRefused(f"The file is not {encoding}: {error}.") from None
    except ValueError:
        raise ImportRefused(f"{encoding!r} is no name of an encoding.") from None


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _split_header(text: str) -> tuple[dict[str, str], str]:
    """Take `Title:`, `Author:` and `Language:` lines from the top, and what Project Gutenberg puts around a text."""
    start = GUTENBERG_START.search(text)
    head = text[: start.start()] if start else text[:2000]
    fields = {}
    last_field_end = 0
    position = 0
    for line in head.splitlines(keepends=True):
        position += len(line)
        match = HEADER_FIELD.match(line.strip())
        if match:
            fields[match.group(1).lower()] = match.group(2).strip()
            last_field_end = position
        elif line.strip() and not start:
            break
    body = text[start.end() :] if start else text[last_field_end:]
    end = GUTENBERG_END.search(body) if start else None
    return fields, body[: end.start()] if end else body


def paragraphs_of(body: str) -> list[str]:
    """Split at blank lines; a text without any has one paragraph a line."""
    body = body.strip()
    blocks = BLANK_LINES.split(body) if BLANK_LINES.search(body) else body.splitlines()
    return [joined for block in blocks if (joined := " ".join(block.split()))]


def _chapters(paragraphs: list[str]) -> list[ParsedChapter]:
    """Begin a chapter at each heading; headings without text (a table of contents) are dropped."""
    numbers = {number for paragraph in paragraphs if (number := _number_of(paragraph))}
    chapters: list[tuple[str, list[str]]] = [("", [])]
    for paragraph in paragraphs:
        if is_heading(paragraph) or _is_numbered(_number_of(paragraph), numbers):
            chapters.append((paragraph, []))
        else:
            chapters[-1][1].append(paragraph)
    return [ParsedChapter(title[:500], tuple(body)) for title, body in chapters if body]


def _is_numbered(number: int, numbers: set[int]) -> bool:
    """True of a number that stands in a row of chapters; a single "42." is an answer."""
    return number > 0 and (number - 1 in numbers or (number == 1 and 2 in numbers))


def _number_of(paragraph: str) -> int:
    """Return the value of a paragraph that is only a number, Arabic or Roman; 0 for any other."""
    match = NUMBER_HEADING.match(paragraph) if len(paragraph) <= LONGEST_HEADING else None
    if match is None:
        return 0
    if match.group(1):
        return int(match.group(1))
    values = [ROMAN_VALUES[letter] for letter in match.group(2).lower()]
    return sum(-one if one < following else one for one, following in pairwise([*values, 0]))


def _title_line(chapters: list[ParsedChapter]) -> str:
    """Return the one line that stands alone before the first heading, if it reads like a title and no sentence."""
    first = chapters[0]
    if len(chapters) < 2 or first.title or len(first.paragraphs) != 1:
        return ""
    (line,) = first.paragraphs
    return line if len(line) <= LONGEST_HEADING and not line.endswith(SENTENCE_MARKS) else ""


def is_heading(paragraph: str) -> bool:
    """True of a line that names a chapter; a number alone is one only in a row of them."""
    if len(paragraph) > LONGEST_HEADING:
        return False
    return bool(NUMBERED_HEADING.match(paragraph) or NAMED_HEADING.match(paragraph))
