"""`make bench`: how long commands on 10 000 scenes × 3 stages take here, the commit included."""

import time

import pytest

from dispatch.tick import run_tick
from generation.commands import cancel, delete, regenerate
from tests.doubles.hub import FakeHub
from tests.factories.books import make_book

pytestmark = pytest.mark.django_db(transaction=True)

SCENES = 10_000


def test_commands_on_ten_thousand_scenes(actor, capsys):
    book = make_book(scenes=SCENES)
    actions = {
        "regenerate, dry run": lambda: regenerate.plan(regenerate.Request(book.pk)),
        "regenerate": lambda: regenerate.apply(regenerate.Request(book.pk), actor),
        "first tick after it": lambda: run_tick(FakeHub()),
        "tick": lambda: run_tick(FakeHub()),
        "regenerate by force": lambda: regenerate.apply(regenerate.Request(book.pk, rebuild_all=True), actor),
        "stop all, dry run": lambda: cancel.plan(cancel.Request(book.pk)),
        "stop all": lambda: cancel.apply(cancel.Request(book.pk), actor),
        "delete": lambda: delete.apply(delete.Request(delete.What.BOOK, (book.pk,)), actor),
    }
    with capsys.disabled():
        for name, action in actions.items():
            began = time.perf_counter()
            action()
            print(f"\n{name:24} {time.perf_counter() - began:6.2f} s", end="")  # noqa: T201 - what it is for
