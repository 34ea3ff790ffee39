"""Sentences, and how long a text takes to read aloud."""

import re
import unicodedata

# 100 words of English, some 560 characters, are 37 s of speech. A syllable sign of CJK is about three letters.
CHARACTERS_PER_SECOND = 15.2
WIDE_CHARACTER_WEIGHT = 3.3
# The end of a sentence: its mark, closing quotes, then white space before something that can begin one.
SENTENCE_END = re.compile(r"(?<=[.!?…。！？])([\"'”’»)\]]*)\s+(?=[\"'“‘«(\[—–-]*[^\W_a-zа-яё])")
WIDE_SENTENCE_END = re.compile(r"(?<=[。！？])(?=[^”’」』）\s])")
ABBREVIATIONS = {
    "mr",
    "mrs",
    "ms",
    "dr",
    "st",
    "prof",
    "capt",
    "col",
    "gen",
    "lt",
    "rev",
    "hon",
    "sr",
    "jr",
    "vs",
    "no",
}
# Latin, Cyrillic, Greek, Arabic … need no look at each character.
FIRST_WIDE_CHARACTER = "\u1100"
LAST_WORD = re.compile(r"([^\W\d_]+)\.$")
# Longer than any abbreviation.
TAIL = 20


def narration_s(text: str) -> float:
    """Estimate how long the text takes to read aloud, in seconds."""
    wide = 0
    if max(text, default="") >= FIRST_WIDE_CHARACTER:
        wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return (len(text) + (WIDE_CHARACTER_WEIGHT - 1) * wide) / CHARACTERS_PER_SECOND


def split_sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences; joined by single blanks they give the paragraph again (CJK: joined as is)."""
    marked = SENTENCE_END.sub(lambda match: f"{match.group(1)}\n", paragraph)
    pieces = [piece for line in marked.split("\n") for piece in WIDE_SENTENCE_END.split(line)]
    sentences: list[list[str]] = []
    for piece in pieces:
        if sentences and _ends_in_abbreviation(sentences[-1][-1]):
            sentences[-1].append(piece)
        else:
            sentences.append([piece])
    return [" ".join(sentence) for sentence in sentences]


def _ends_in_abbreviation(sentence: str) -> bool:
    match = LAST_WORD.search(sentence[-TAIL:])
    if match is None:
        return False
    word = match.group(1)
    return word.lower() in ABBREVIATIONS or (len(word) == 1 and word.isupper() and word != "I")
