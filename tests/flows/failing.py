"""What fails, in a clock that stands still, and a stage that was stopped by it."""

import pytest

from dispatch.capacity.snapshot import Circuit, read_stage
from dispatch.failures import Failure
from dispatch.models import Dispatch
from dispatch.results.accept import accept_error
from dispatch.tick import run_tick
from generation.models import StageConfig
from tests.doubles.clock import stopped_clock
from tests.factories.books import make_book
from tests.flows.asking import ask


def active():
    return Dispatch.objects.filter(status="active").order_by("asset__position")


def fail(dispatch, reason="render_failed"):
    accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", Failure(reason, "It broke."))


@pytest.fixture
def clock():
    with stopped_clock() as clock:
        yield clock


@pytest.fixture
def open_circuit(actor, hub, clock):
    """A book of nine scenes, five of which failed one after another; each waits for its retry."""
    StageConfig.objects.create(stage="image", quota=5)
    book = make_book(scenes=9)
    ask(book, actor)
    run_tick(hub)
    for dispatch in active():
        fail(dispatch)
    assert read_stage("image").circuit == Circuit.OPEN
    return book
