import pytest

from generation import lifecycle
from generation.exceptions import TransitionRefused
from generation.lifecycle import State

LEGAL = {
    ("new", "dirty"),
    ("new", "pending"),
    ("new", "placeholder"),
    ("dirty", "pending"),
    ("dirty", "placeholder"),
    ("pending", "generating"),
    ("pending", "failed"),
    ("pending", "dirty"),
    ("generating", "ready"),
    ("generating", "failed"),
    ("generating", "dirty"),
    ("ready", "dirty"),
    ("failed", "pending"),
    ("failed", "dirty"),
    ("placeholder", "dirty"),
    ("placeholder", "generating"),
}


@pytest.mark.parametrize("source", State)
@pytest.mark.parametrize("target", State)
def test_only_the_specified_steps_are_allowed(source, target):
    assert lifecycle.allowed(source, target) == (source == target or (source.value, target.value) in LEGAL)


def test_a_roll_back_of_generating_goes_by_way_of_dirty():
    assert lifecycle.route(State.GENERATING, State.PENDING) == (State.GENERATING, State.DIRTY, State.PENDING)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (State.READY, State.GENERATING),
        (State.DIRTY, State.READY),
        (State.FAILED, State.READY),
        (State.NEW, State.READY),
    ],
)
def test_a_step_without_a_way_is_refused_loudly(source, target):
    with pytest.raises(TransitionRefused, match=f"from {source} to {target}"):
        lifecycle.route(source, target)


def test_nothing_becomes_ready_except_from_generating():
    assert lifecycle.sources_of(State.READY) == [State.GENERATING, State.READY]
