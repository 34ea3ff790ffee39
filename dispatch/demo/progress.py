"""How far every book is, for the terminal."""

from django.db import DatabaseError, connection

from generation import selectors, words
from generation.lifecycle import State
from generation.models import Book
from generation.stages import StageName


def lines() -> dict[int, str]:
    """Return a line per book where work was asked for: "Moby-Dick: 9 of 9 pictures, 0 of 9 videos ready; 2 generating".

    Empty while the database is away.
    """
    try:
        titles = dict(Book.objects.values_list("pk", "title"))
        counted = selectors.progress(titles)
    except DatabaseError:
        connection.close()
        return {}
    told = {pk: _line(stages) for pk, stages in counted.items()}
    return {pk: f"{titles[pk]}: {line}" for pk, line in told.items() if line}


def _line(stages: selectors.Progress) -> str:
    asked = {name: states for name, states in stages.items() if sum(states.values()) > states[State.NEW]}
    if not asked:
        return ""
    ready = ", ".join(f"{states[State.READY]} of {_all(name, states)}" for name, states in asked.items())
    others = []
    for state, word in ((State.GENERATING, "generating"), (State.PENDING, "queued"), (State.FAILED, "failed")):
        number = sum(states[state] for states in asked.values())
        others += [f"{number} {word}"] if number else []
    return f"{ready} ready" + (f"; {', '.join(others)}" if others else "")


def _all(name: StageName, states: dict[State, int]) -> str:
    return words.of_stage(name, sum(states.values()))
