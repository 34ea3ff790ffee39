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
# Nothing is asked for or made: an operator may put something else in place.
IDLE = frozenset(State) - COMMANDED
# What select may hand to a hub.
DISPATCHABLE = frozenset({State.PENDING})


def allowed(source: State, target: State) -> bool:
    return source == target or target in EDGES[source]


# The steps of an asset to ready without a job: proof that its file is there takes the place of the rendering.
PROVEN = (State.PENDING, State.GENERATING, State.READY)


def route(source: State, target: State, *, proven: bool = False) -> tuple[State, ...]:
    """Return the states an asset passes on its way, both ends included.

    Direct, or by way of dirty: a roll-back and a regenerate are written in one statement, and journalled as the two
    steps they are. To ready, `proven` leads through generating. Raises TransitionRefused when there is no way.
    """
    if proven and target == State.READY and source != State.READY:
        first = next(index for index, state in enumerate(PROVEN) if state in (source, *EDGES[source]))
        return (source, *(state for state in PROVEN[first:] if state != source))
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
