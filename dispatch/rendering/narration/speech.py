"""Text as a voice can speak it: cleaned, cut into sentences, no piece so long that an engine chokes on it."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape

from generation.importing.sentences import narration_s, split_sentences
from generation.importing.splitting import PARAGRAPH_BREAK

# 6 800 characters without punctuation took an engine 3 GB.
PIECE_CHARACTERS = 280
TOKEN_CHARACTERS = 40
# Longer scenes are spoken in several parts. Imported scenes have at most 60 s.
PART_S = 80.0

CODE = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
ADDRESS = re.compile(r"(?:https?://|www\.)[A-Za-z0-9._~:/?#@!$&*+,;=%-]*[A-Za-z0-9/]", re.IGNORECASE)
# Engines read a number digit by digit from here on, and one dies of it.
LONG_NUMBER = re.compile(r"\d{16,}")
DIGITS_AT_ONCE = 4
PARAGRAPH = re.compile(r"\n\s*\n")
CLAUSE_END = re.compile(r"(?<=[,;:—–，；：、।])\s*")
LONG_TOKEN = re.compile(rf"\S{{{TOKEN_CHARACTERS + 1},}}")
# Half of a surrogate pair, control characters and private signs: nothing that a voice or a subtitle could use.
UNSPOKEN = {"Cc", "Cs", "Co", "Cn"}
# Soft hyphens, blanks of no width and marks of direction are inside words; these two are letters to some scripts.
JOINERS = {"\u200c", "\u200d"}


@dataclass(frozen=True)
class Piece:
    """What is spoken in one breath; a longer pause follows the end of a paragraph."""

    text: str
    ends_paragraph: bool


def clean(text: str) -> str:
    """Return the text without mark-up, web addresses and unprintable characters; paragraphs stay."""
    text = ADDRESS.sub(" ", TAG.sub(" ", unescape(CODE.sub(" ", text))))
    return LONG_NUMBER.sub(_spaced, "".join(map(_printable, text)))


def _printable(character: str) -> str:
    category = unicodedata.category(character)
    if category == "No":  # ½ and ⑶ are numbers to read, spelled as such
        return unicodedata.normalize("NFKC", character)
    if category == "Cf":
        return character if character in JOINERS else ""
    return " " if category in UNSPOKEN and character != "\n" else character


def _spaced(match: re.Match[str]) -> str:
    digits = match.group()
    return " ".join(digits[start : start + DIGITS_AT_ONCE] for start in range(0, len(digits), DIGITS_AT_ONCE))


def has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def pieces_of(text: str) -> list[Piece]:
    """Return what is to be spoken, in order. Empty when there is no letter and no digit in it."""
    pieces: list[Piece] = []
    for paragraph in PARAGRAPH.split(clean(text)):
        spoken = [piece for piece in _pieces(" ".join(paragraph.split())) if has_words(piece)]
        pieces += [Piece(piece, index == len(spoken) - 1) for index, piece in enumerate(spoken)]
    return pieces


def parts_of(text: str) -> list[str]:
    """Cut a long text into parts of at most PART_S of narration, at the ends of sentences; paragraphs stay apart.

    A text without words is one part, so that its renderer says so.
    """
    parts: list[list[Piece]] = [[]]
    seconds = 0.0
    for piece in pieces_of(text):
        length = narration_s(f"{piece.text}{PARAGRAPH_BREAK}")
        if parts[-1] and seconds + length > PART_S:
            parts.append([])
            seconds = 0.0
        parts[-1].append(piece)
        seconds += length
    return [text] if len(parts) == 1 else [_joined(part) for part in parts]


def _joined(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text + (PARAGRAPH_BREAK if piece.ends_paragraph else " ") for piece in pieces).strip()


def _pieces(paragraph: str) -> Iterator[str]:
    for sentence in split_sentences(LONG_TOKEN.sub(_broken, paragraph)):
        if len(sentence) <= PIECE_CHARACTERS:
            yield sentence.strip()
        else:
            yield from _packed(CLAUSE_END.split(sentence))


def _broken(match: re.Match[str]) -> str:
    token = match.group()
    return " ".join(token[start : start + TOKEN_CHARACTERS] for start in range(0, len(token), TOKEN_CHARACTERS))


def _packed(clauses: Iterable[str]) -> Iterator[str]:
    """Join clauses while they fit; one that does not fit alone is cut between its words."""
    current = ""
    for clause in clauses:
        for words in _fitting(clause.strip()):
            if current and len(current) + 1 + len(words) > PIECE_CHARACTERS:
                yield current
                current = ""
            current = f"{current} {words}".strip()
    if current:
        yield current


def _fitting(clause: str) -> Iterator[str]:
    while len(clause) > PIECE_CHARACTERS:
        cut = clause.rfind(" ", 0, PIECE_CHARACTERS + 1)
        cut = cut if cut > 0 else PIECE_CHARACTERS
        yield clause[:cut].strip()
        clause = clause[cut:].strip()
    if clause:
        yield clause
