"""Cancel and completion, interleaved at every statement of either: one outcome, the same everywhere."""

import threading
from collections.abc import Callable

import psycopg
import pytest
from django.db import connection, connections

from dispatch.models import Dispatch, Job
from dispatch.results.finalise import finalise_if_active
from dispatch.results.outcomes import Published
from dispatch.tick import run_tick
from generation.commands import cancel, regenerate
from generation.lifecycle import State
from generation.models import Artifact, Asset, Book, JournalEntry, Target
from tests.capacity import leases
from tests.doubles.pictures import store_picture
from tests.factories.books import make_book
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

WAITING_FOR_A_LOCK = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"
# More statements than either side runs; positions past the end run one after the other.
MOST_STATEMENTS = 60


class Other:
    """The other side: runs in a thread of its own, and can be waited for until it is done or stuck on a lock."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.pid = 0
        self.act = act
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            self.pid = cursor.fetchone()[0]
        self.act()
        connections.close_all()

    def run_as_far_as_it_gets(self, observer) -> None:
        self.thread.start()
        wait_until(lambda: not self.thread.is_alive() or self._is_stuck(observer))

    def _is_stuck(self, observer) -> bool:
        return bool(self.pid) and observer.execute(WAITING_FOR_A_LOCK, [self.pid]).fetchone()[0] > 0


def interleaved(act: Callable[[], object], other: Other, at_statement: int) -> int:
    """Run `act`, and `other` just before its statement number `at_statement`; return how many statements ran."""
    count = 0
    settings_dict = connection.settings_dict
    with psycopg.connect(
        host=settings_dict["HOST"], user=settings_dict["USER"], dbname=settings_dict["NAME"], autocommit=True
    ) as observer:

        def step(execute, sql, params, many, context):
            nonlocal count
            if count == at_statement:
                other.run_as_far_as_it_gets(observer)
            count += 1
            return execute(sql, params, many, context)

        with connection.execute_wrapper(step):
            act()
        if other.thread.ident is None:
            other.thread.start()
        other.thread.join()
    return count


def sides(actor):
    dispatch = Dispatch.objects.get()
    files = store_picture(dispatch)
    return (
        lambda: finalise_if_active(dispatch.dispatch_id, Published(files)),
        lambda: cancel.apply(cancel.Request(dispatch.book_pk), actor),
    )


def assert_one_outcome(hub):
    run_tick(hub)
    asset = Asset.objects.get(stage="image")
    dispatch, target, job = Dispatch.objects.get(), Target.objects.get(), Job.objects.get()
    finalised = JournalEntry.objects.filter(event="finalised", change="generating → ready").count()
    if asset.state == State.READY:
        assert (dispatch.status, target.status, job.status) == ("succeeded", "done", "done")
        assert (asset.published, finalised) == (Artifact.objects.get(), 1)
    else:
        assert asset.state == State.DIRTY
        assert (dispatch.status, target.status) == ("cancelled", "cancelled")
        assert job.status in (Job.Status.DROPPED, Job.Status.DONE)
        assert (Artifact.objects.count(), finalised) == (0, 0)
    assert leases("image") == {}
    return asset.state


@pytest.mark.parametrize("interrupted", ["completion", "cancel"])
def test_cancel_and_completion_at_every_statement_have_one_outcome(interrupted, hub, actor):
    outcomes, position, statements = set(), 0, MOST_STATEMENTS
    while position <= statements:
        Dispatch.objects.all().delete()
        Book.objects.all().delete()
        JournalEntry.objects.all().delete()
        book = make_book(scenes=1)
        regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
        run_tick(hub)
        complete, stop = sides(actor)
        act, other = (complete, stop) if interrupted == "completion" else (stop, complete)
        statements = interleaved(act, Other(other), position)
        outcomes.add(assert_one_outcome(hub))
        position += 1
    assert position > 10
    assert outcomes == {State.READY, State.DIRTY}
