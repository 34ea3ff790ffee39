import pytest

from dispatch.failures import FailureType
from dispatch.models import Dispatch
from dispatch.tick import run_tick
from tests.factories.books import make_book
from tests.flows.asking import ask


@pytest.fixture
def dispatch(hub, actor) -> Dispatch:
    """An active dispatch of the one picture of a book."""
    ask(make_book(scenes=1), actor)
    run_tick(hub)
    return Dispatch.objects.get()


@pytest.fixture
def no_circuit(settings) -> None:
    """No number of failures stops the stage or its retries: here time passes in the record only, not in Redis."""
    plenty = {"circuit_failures": 10_000, "retries_by_type": dict.fromkeys(FailureType.values, 10_000)}
    settings.ANIMASTOR = settings.ANIMASTOR | plenty | {"retries_of_all": 10_000, "retries_of_worker": 10_000}
