"""States of an asset and the steps between them. Pure: no rows, no clock."""

from django.db import models

from .exceptions import TransitionRefused


class State(models.TextChoices):
    NEW = "new", "New"  # never asked for
    DIRTY = "dirty", "Out of date"  # not current, nobody asked for it
    PENDING = "pending", "Queued"  # asked for, waiting for capacity
    GENERATING = "generating", "Generating"  # an active dispatch makes it
    READY = "ready", "Ready"  # a published artifact is current
    FAILED = "failed", "Failed"  # gave up; only a command starts it again
    PLACEHOLDER = "placeholder", "Placeholder"  # a marked stand-in, never counts as ready


EDGES: dict[State, frozenset[State]] = {
    State.NEW: frozenset({State.DIRTY, State.PENDING, State.PLACEHOLDER}),
    State.DIRTY: frozenset({State.PENDING, State.PLACEHOLDER}),
    State.PENDING: frozenset({State.GENERATING, State.FAILED, State.DIRTY}),
    State.GENERATING: frozenset({State.READY, State.FAILED, State.DIRTY}),
    State.READY: frozenset({State.DIRTY}),
    State.FAILED: frozenset({State.PENDING, State.DIRTY}),
    State.PLACEHOLDER: frozenset({State.DIRTY, State.GENERATING}),
}

# An open target is needed for these; nobody is in them without a command.
COMMANDED = frozenset({State.PENDING, State.GENERATING})
# What select may hand to a hub.
DISPATCHABLE = frozenset({State.PENDING})


def allowed(source: State, target: State) -> bool:
    return source == target or target in EDGES[source]


def route(source: State, target: State) -> tuple[State, ...]:
    """Return the states an asset passes on its way, both ends included.

    Direct, or by way of dirty: a roll-back and a regenerate are written in one statement, and journalled as the two
    steps they are. Raises TransitionRefused when there is neither.
    """
    if source == target:
        return (source,)
    if allowed(source, target):
        return (source, target)
    if allowed(source, State.DIRTY) and allowed(State.DIRTY, target):
        return (source, State.DIRTY, target)
    raise TransitionRefused(f"An asset may not go from {source} to {target}.")


def sources_of(target: State) -> list[State]:
    """Return every state from which `route` leads to `target`."""
    return [state for state in State if _has_route(state, target)]


def _has_route(source: State, target: State) -> bool:
    try:
        route(source, target)
    except TransitionRefused:
        return False
    return True
