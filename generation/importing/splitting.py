"""Cut a chapter into scenes of 20 to 60 s of narration. Deterministic; a sentence is never cut."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

SHORTEST_S = 20.0
WANTED_S = 40.0
LONGEST_S = 60.0
# 100 words of English, some 560 characters, are 37 s of speech. A syllable sign of CJK is about three letters.
CHARACTERS_PER_SECOND = 15.2
WIDE_CHARACTER_WEIGHT = 3.3
PARAGRAPH_BREAK = "\n\n"

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


def split_scenes(paragraphs: Iterable[str]) -> list[str]:
    """Return the scenes of a chapter in order, paragraphs inside a scene separated by a blank line.

    Every scene has SHORTEST_S to LONGEST_S of narration, unless the chapter is shorter or one sentence is longer.
    A scene ends at a paragraph where it can.
    """
    sentences = [
        (sentence, index == len(split) - 1)
        for split in map(split_sentences, paragraphs)
        for index, sentence in enumerate(split)
    ]
    scenes: list[list[tuple[str, bool]]] = []
    current: list[tuple[str, bool]] = []
    for sentence, ends_paragraph in sentences:
        if current and _seconds(current) + narration_s(sentence) > LONGEST_S:
            scenes.append(current)
            current = []
        current.append((sentence, ends_paragraph))
        if _seconds(current) >= (WANTED_S if ends_paragraph else LONGEST_S - SHORTEST_S / 2):
            scenes.append(current)
            current = []
    if current:
        scenes.append(current)
    return [_joined(scene) for scene in _balanced(scenes)]


def _balanced(scenes: list[list[tuple[str, bool]]]) -> list[list[tuple[str, bool]]]:
    """Give a scene that came out too short to a neighbour, or take sentences from the one before it."""
    result: list[list[tuple[str, bool]]] = []
    for scene in scenes:
        is_short = bool(result) and min(_seconds(scene), _seconds(result[-1])) < SHORTEST_S
        if is_short and _seconds(result[-1]) + _seconds(scene) <= LONGEST_S:
            result[-1] = result[-1] + scene
        else:
            result.append(scene)
            if len(result) > 1:
                _lend(result[-2], result[-1])
    return result


def _lend(before: list[tuple[str, bool]], after: list[tuple[str, bool]]) -> None:
    while len(before) > 1 and _seconds(after) < SHORTEST_S:
        last = narration_s(before[-1][0])
        if _seconds(before) - last < SHORTEST_S or _seconds(after) + last > LONGEST_S:
            return
        after.insert(0, before.pop())


def _seconds(sentences: Sequence[tuple[str, bool]]) -> float:
    return narration_s(" ".join(sentence for sentence, _ in sentences))


def _joined(sentences: Sequence[tuple[str, bool]]) -> str:
    parts: list[str] = []
    for sentence, ends_paragraph in sentences:
        parts += [sentence, PARAGRAPH_BREAK if ends_paragraph else " "]
    return "".join(parts[:-1])


def _ends_in_abbreviation(sentence: str) -> bool:
    match = LAST_WORD.search(sentence[-TAIL:])
    if match is None:
        return False
    word = match.group(1)
    return word.lower() in ABBREVIATIONS or (len(word) == 1 and word.isupper() and word != "I")
