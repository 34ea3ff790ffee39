"""Cut a chapter into scenes of 20 to 60 s of narration. Deterministic; a sentence is never cut."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .sentences import CHARACTERS_PER_SECOND, narration_s, split_sentences

SHORTEST_S = 20.0
WANTED_S = 40.0
LONGEST_S = 60.0
PARAGRAPH_BREAK = "\n\n"
JOINT_S = len(PARAGRAPH_BREAK) / CHARACTERS_PER_SECOND

# What the end of a scene costs, in seconds that its length may differ from the wanted one instead.
AFTER_PARAGRAPH, AFTER_SENTENCE, BETWEEN_SPEECHES, INSIDE_SPEECH = 0.0, 12.0, 20.0, 30.0
TOO_SHORT = 40.0

# A paragraph that begins like this is somebody speaking.
SPEECH_MARKS = tuple("\"'“„«‘‚–—―-")
OPENING, CLOSING = "“„«", "”»"


@dataclass(frozen=True)
class Sentence:
    text: str
    ends_paragraph: bool
    seconds: float
    cost: float  # of ending a scene behind it


class Earlier:
    """The scenes a book was cut into before, found by their first sentences; each is taken once."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._known: dict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
        for text in texts:
            split = [sentence for paragraph in text.split(PARAGRAPH_BREAK) for sentence in split_sentences(paragraph)]
            self._known[split[0]][len(split), text] += 1

    def take(self, sentences: Sequence[Sentence], place: int) -> int:
        """Return how many sentences of an earlier scene lie at `place`, word for word; 0 when none does."""
        candidates = self._known.get(sentences[place].text)
        if not candidates:
            return 0
        for number, text in candidates:
            if _joined(sentences[place : place + number]) == text:
                candidates[number, text] -= 1
                if not candidates[number, text]:
                    del candidates[number, text]
                return number
        return 0


def split_scenes(paragraphs: Iterable[str], earlier: Earlier | None = None) -> list[str]:
    """Return the scenes of a chapter in order, paragraphs inside a scene separated by a blank line.

    Every scene has SHORTEST_S to LONGEST_S of narration, unless the chapter is shorter or one sentence is longer. It
    ends at a paragraph where it can, and rather not between a speech and its answer. `earlier` are scenes the book was
    cut into before: those whose text is still there stay as they are, and only what lies between is cut anew.
    """
    sentences = _sentences(list(paragraphs))
    scenes: list[str] = []
    for segment, is_kept in _segments(sentences, earlier or Earlier()):
        scenes += [_joined(segment)] if is_kept else [_joined(scene) for scene in _cut(segment)]
    return scenes


def _sentences(paragraphs: Sequence[str]) -> list[Sentence]:
    result = []
    for paragraph, following in pairwise([*paragraphs, ""]):
        is_speech, is_answered = _is_speech(paragraph), _is_speech(following)
        split = split_sentences(paragraph)
        opened = quotes = 0
        for number, text in enumerate(split, start=1):
            opened += sum(map(text.count, OPENING)) - sum(map(text.count, CLOSING))
            quotes += text.count('"')
            if number == len(split):
                cost = BETWEEN_SPEECHES if is_speech and is_answered else AFTER_PARAGRAPH
            else:
                # A quotation that began in the paragraph has not ended.
                cost = INSIDE_SPEECH if opened > 0 or quotes % 2 else AFTER_SENTENCE
            result.append(Sentence(text, number == len(split), narration_s(text) + JOINT_S, cost))
    return result


def _is_speech(paragraph: str) -> bool:
    return paragraph.startswith(SPEECH_MARKS)


def _segments(sentences: Sequence[Sentence], earlier: Earlier) -> list[tuple[Sequence[Sentence], bool]]:
    """Return runs of sentences in order, each with True when it is one of the earlier scenes, word for word."""
    segments: list[tuple[Sequence[Sentence], bool]] = []
    place = begun = 0
    while place < len(sentences):
        taken = earlier.take(sentences, place)
        if not taken:
            place += 1
            continue
        if begun < place:
            segments.append((sentences[begun:place], False))
        segments.append((sentences[place : place + taken], True))
        place = begun = place + taken
    if begun < len(sentences):
        segments.append((sentences[begun:], False))
    return _with_short_ones_joined(segments)


def _with_short_ones_joined(
    segments: Iterable[tuple[Sequence[Sentence], bool]],
) -> list[tuple[Sequence[Sentence], bool]]:
    """Return the segments; a new one that is too short for a scene is cut together with the one before it."""
    joined: list[tuple[Sequence[Sentence], bool]] = []
    for sentences, is_kept in segments:
        if joined and (_is_scrap(sentences, is_kept) or _is_scrap(*joined[-1])):
            before, _ = joined.pop()
            joined.append(([*before, *sentences], False))
        else:
            joined.append((sentences, is_kept))
    return joined


def _is_scrap(sentences: Sequence[Sentence], is_kept: bool) -> bool:
    return not is_kept and _seconds(sentences) < SHORTEST_S


def _cut(sentences: Sequence[Sentence]) -> list[Sequence[Sentence]]:
    scenes: list[Sequence[Sentence]] = []
    start, left_s = 0, _seconds(sentences)
    while start < len(sentences):
        end = _end_of_scene(sentences, start, left_s)
        left_s -= _seconds(sentences[start:end])
        scenes.append(sentences[start:end])
        start = end
    return scenes


def _end_of_scene(sentences: Sequence[Sentence], start: int, left_s: float) -> int:
    """Return the index behind the last sentence of the scene that begins at `start`; `left_s` is what is left."""
    if left_s <= LONGEST_S:
        return len(sentences)
    best, lowest = start + 1, float("inf")
    length_s = 0.0
    for index in range(start, len(sentences)):
        length_s += sentences[index].seconds
        if length_s > LONGEST_S and index > start:
            break
        rest_s = left_s - length_s
        cost = sentences[index].cost + abs(length_s - WANTED_S)
        cost += TOO_SHORT * ((length_s < SHORTEST_S) + (0 < rest_s < SHORTEST_S))
        if cost < lowest:
            best, lowest = index + 1, cost
    return best


def _seconds(sentences: Sequence[Sentence]) -> float:
    return sum(sentence.seconds for sentence in sentences)


def _joined(sentences: Sequence[Sentence]) -> str:
    parts: list[str] = []
    for sentence in sentences:
        parts += [sentence.text, PARAGRAPH_BREAK if sentence.ends_paragraph else " "]
    return "".join(parts[:-1])
