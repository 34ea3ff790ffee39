"""Which scene of a book a scene of a file is: by the file's own names, by its text, or by what is left of its text."""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice

# Half of the words in common make it the same scene, changed.
SIMILAR = 0.5
# How many candidates are compared with a scene: a book exchanged for another must not compare all with all.
LOOKS = 5
# What tells whether two scenes are the same; None of one that has no such thing.
Identity = Callable[["Named"], object]


@dataclass(frozen=True)
class Named:
    """A scene, with the names that its file gives to its chapter and to itself; empty without."""

    chapter_key: str
    key: str
    text: str


def match_scenes(old: Sequence[Named], new: Sequence[Named]) -> list[int | None]:
    """Return for each of `new` the index of the same scene in `old`, None for one that was not there; each old once."""
    matched: list[int | None] = [None] * len(new)
    free = set(range(len(old)))
    _match_equal(old, new, matched, free, lambda scene: (scene.chapter_key, scene.key) if scene.key else None)
    _match_equal(old, new, matched, free, lambda scene: scene.text)
    _match_similar(old, new, matched, free)
    return matched


def _match_equal(
    old: Sequence[Named], new: Sequence[Named], matched: list[int | None], free: set[int], identity: Identity
) -> None:
    known: dict[object, deque[int]] = defaultdict(deque)
    for index in sorted(free):
        known[identity(old[index])].append(index)
    known.pop(None, None)
    for index, scene in enumerate(new):
        same = known.get(identity(scene))
        if matched[index] is None and same:
            matched[index] = same.popleft()
    free.difference_update(found for found in matched if found is not None)


def _match_similar(old: Sequence[Named], new: Sequence[Named], matched: list[int | None], free: set[int]) -> None:
    """Between two scenes that were found, take in order those that lay there before and are still alike."""
    afters, after = [len(old)] * len(new), len(old)
    for index in reversed(range(len(new))):
        afters[index] = after
        found = matched[index]
        after = found if found is not None else after
    before = -1
    for index, scene in enumerate(new):
        if matched[index] is None:
            between = islice((place for place in range(before + 1, afters[index]) if place in free), LOOKS)
            matched[index] = next((place for place in between if _alike(old[place].text, scene.text)), None)
        found = matched[index]
        if found is not None:
            free.discard(found)
            before = found


def _alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one.split(), other.split(), autojunk=False).quick_ratio() >= SIMILAR
