import pytest

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
