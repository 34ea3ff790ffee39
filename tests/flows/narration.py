"""A book of one scene that is narrated in five parts, its dispatch, and looks at both."""

import django_rq
import pytest

from dispatch.hubs.rq import keys
from dispatch.models import Dispatch
from dispatch.tick import run_tick
from generation import store
from generation.models import ArtifactFile, Asset
from tests.doubles.parts import deliver_part, long_book
from tests.flows.asking import ask

PARTS = 5


@pytest.fixture
def book():
    return long_book(PARTS)


@pytest.fixture
def dispatch(book, actor, hub) -> Dispatch:
    ask(book, actor, "audio")
    run_tick(hub)
    return Dispatch.objects.get()


def audio() -> Asset:
    return Asset.objects.get(stage="audio")


def units(dispatch) -> list[str]:
    return list(dispatch.jobs.order_by("order").values_list("unit", flat=True))


def deliver_all_parts(dispatch) -> None:
    for unit in units(dispatch):
        assert deliver_part(dispatch, unit).rejection is None


def queued() -> list[bytes]:
    return django_rq.get_connection("assembly").lrange(keys.queue(keys.ASSEMBLY), 0, -1)


def published() -> dict[str, bytes]:
    files = ArtifactFile.objects.filter(artifact=audio().published)
    return {file.role: store.open_file(file.name).read() for file in files}
