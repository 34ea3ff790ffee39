"""An old owner of the tick that wakes up after somebody took over writes nothing, also after an emptied Redis."""

import os
import signal
import subprocess

import psutil
import pytest
from django.apps import apps

from dispatch.capacity.scripts import client
from dispatch.models import Dispatch
from dispatch.tick import run_tick
from dispatch.tick.boundaries import Boundary
from generation.commands import regenerate
from tests.factories.books import make_book
from tests.processes import running
from tests.sampling import sampled
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

BOUNDARIES = [
    Boundary.BEGIN,
    Boundary.RENEWED,
    Boundary.SELECTED,
    Boundary.ADMITTED,
    Boundary.BEFORE_PREPARE_COMMIT,
    Boundary.AFTER_PREPARE_COMMIT,
    Boundary.BEFORE_SUBMIT,
    Boundary.AFTER_SUBMIT,
    Boundary.BEFORE_RECORD_COMMIT,
]


def everything_stored() -> dict[str, object]:
    """Return every row of our tables and every key of Redis."""
    rows = {
        model._meta.label: sorted(map(repr, model.objects.values_list()))
        for app in ("generation", "dispatch")
        for model in apps.get_app_config(app).get_models()
    }
    readers = {
        "string": client().get,
        "hash": client().hgetall,
        "zset": lambda key: client().zrange(key, 0, -1, withscores=True),
    }
    return {**rows, **{key: readers[client().type(key)](key) for key in client().keys("{animastor}*")}}


@pytest.mark.parametrize(
    ("boundary", "emptied"),
    sampled(
        [(boundary, True) for boundary in BOUNDARIES]
        + [(boundary, False) for boundary in (Boundary.BEGIN, Boundary.SELECTED, Boundary.AFTER_PREPARE_COMMIT)],
        keep=3,
    ),
)
def test_a_paused_old_owner_writes_nothing(boundary, emptied, hub, actor, empty_redis, monkeypatch):
    monkeypatch.setenv("DB_IDLE_IN_TRANSACTION_S", "1")
    book = make_book(scenes=6)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    with running(["-m", "tests.doubles.paused_tick", boundary], stdout=subprocess.PIPE) as old:
        wait_until(lambda: psutil.Process(old.pid).status() == psutil.STATUS_STOPPED)
        wait_until(lambda: run_tick(hub) is not None)
        assert Dispatch.objects.filter(status="active").count() == 4
        if emptied:
            empty_redis.flushdb()
        before = everything_stored()
        os.kill(old.pid, signal.SIGCONT)
        assert old.stdout is not None
        assert old.stdout.readline() == b"lost 0\n"
        assert everything_stored() == before
