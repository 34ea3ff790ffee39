"""Scenarios of leases and counting, by the words of the list."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dispatch.capacity.admission import Verdict, Wish, admit_leases
from dispatch.capacity.leases import Claim, Fence, sync_leases
from dispatch.capacity.scripts import client, server_time_s
from dispatch.explain import explain
from dispatch.failures import Failure
from dispatch.hubs.base import HubDeclined
from dispatch.models import Dispatch, StageWorkers
from dispatch.results.accept import accept_error
from dispatch.tick import run_tick
from generation.commands import cancel
from generation.models import Asset, Book, Command, JournalEntry, StageConfig, Task
from generation.stages import STAGES, StageName
from tests.capacity import leases
from tests.doubles.clock import stopped_clock
from tests.doubles.hub import FakeHub
from tests.doubles.pictures import deliver
from tests.factories.books import images_of, make_book
from tests.flows.asking import ask, states

pytestmark = pytest.mark.django_db(transaction=True)


def active():
    return Dispatch.objects.filter(status="active").order_by("pk")


def ref_of(dispatch, hub):
    return next(ref for ref in hub.jobs if ref.dispatch_id == dispatch.dispatch_id)


@pytest.fixture
def clock():
    with stopped_clock() as clock:
        yield clock


def test_08_a_state_that_is_not_final_without_a_task_is_explained_and_put_right(actor, hub):
    book = make_book(scenes=2)
    Asset.objects.filter(stage="image", position=1).update(state="generating")
    Asset.objects.filter(stage="image", position=2).update(state="pending")
    said = [explain(asset)[0] for asset in images_of(book)]
    assert [(reason.words, reason.remedy) for reason in said] == [
        ("Nothing makes it.", "The next tick puts it right."),
        ("Nobody asked for it.", "Regenerate."),
    ]
    run_tick(hub)
    assert states(book) == ["dirty", "dirty"]
    assert hub.submissions == []


def test_11_ten_minutes_without_a_tick_leave_live_work_alone_and_dispatch_nothing_twice(actor, hub, clock):
    book = make_book(scenes=4)
    ask(book, actor)
    run_tick(hub)
    for dispatch in active():
        hub.running.add(ref_of(dispatch, hub))
    run_tick(hub)
    clock.forward(600)
    done = active().first()
    assert deliver(done).accepted
    client().flushdb()
    run_tick(hub)
    assert states(book) == ["ready", *["generating"] * 3]
    assert leases("image") == {dispatch.asset_pk: dispatch.dispatch_id for dispatch in active()}
    assert (Dispatch.objects.count(), len(hub.submissions)) == (4, 4)


def test_21_a_job_of_three_lease_times_is_one_dispatch_and_its_lease_is_restored(actor, hub, clock):
    stage = STAGES[StageName.IMAGE]
    ask(make_book(scenes=1), actor)
    run_tick(hub)
    dispatch = active().get()
    dispatch.jobs.update(timeout_s=4 * stage.renewed_ttl_s)
    hub.running.add(ref_of(dispatch, hub))
    for _ in range(3):
        clock.forward(stage.renewed_ttl_s + 1)
        Dispatch.objects.filter(pk=dispatch.pk).update(progress_at=clock.now)
        fence = Fence(10_000, clock.now.timestamp() + 1)
        admit_leases(stage, fence, 0, 0, [Wish(Claim(1, "d"))])  # sweeps what expired
        assert leases("image") == {}
        client().delete("{animastor}:fence")
        run_tick(hub)
        assert leases("image") == {dispatch.asset_pk: dispatch.dispatch_id}
    assert deliver(dispatch).accepted
    assert Dispatch.objects.count() == 1


@pytest.mark.long
def test_32_ten_thousand_blocked_pictures_keep_no_narration_of_another_book_waiting(actor, hub):
    large, small = make_book(scenes=10_000), make_book(scenes=1)
    ask(large, actor)
    hub.worker_counts["image"] = 0
    run_tick(hub)
    assert Task.objects.get().status == "blocked"
    ask(small, actor, "audio")
    dispatched = [run_tick(hub).dispatched, run_tick(hub).dispatched]
    assert sum(dispatched) == 1
    assert StageWorkers.objects.get(stage="image").count == 0


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["succeed", "succeed", "fail", "stop", "ask", "late", "refuse", "set_quota", "flush"]),
        st.integers(0, 9),
    ),
    min_size=5,
    max_size=25,
)


class World:
    """Two books, and what may happen to their pictures."""

    def __init__(self, actor) -> None:
        client().flushdb()
        for model in (Dispatch, Book, Command, JournalEntry, StageConfig):
            model.objects.all().delete()
        self.actor, self.hub, self.quota = actor, FakeHub(), 3
        self.books = [make_book(scenes=4) for _ in range(2)]
        self.ended = []
        StageConfig.objects.create(stage="image", quota=self.quota)
        for book in self.books:
            ask(book, actor)

    def end(self, number):
        """Return one of the active dispatches, which ends now; None without any."""
        running = list(active())
        self.ended += running[number % len(running) :][:1] if running else []
        return self.ended[-1] if running else None

    def succeed(self, number):
        if dispatch := self.end(number):
            deliver(dispatch)

    def fail(self, number):
        if dispatch := self.end(number):
            accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", Failure("render_failed"))

    def stop(self, number):
        cancel.apply(cancel.Request(self.books[number % 2].pk), self.actor)

    def ask(self, number):
        ask(self.books[number % 2], self.actor, rebuild_all=bool(number % 3))

    def late(self, number):
        if self.ended:
            deliver(self.ended[number % len(self.ended)])

    def refuse(self, number):
        self.hub.answers = [HubDeclined("no_worker_available")] * (number % 4)

    def set_quota(self, number):
        self.quota = number % 5
        StageConfig.objects.update(quota=self.quota)

    def flush(self, number):
        client().flushdb()


@pytest.mark.long
@hypothesis_settings(suppress_health_check=list(HealthCheck), max_examples=12, deadline=None)
@given(operations=OPERATIONS)
def test_33_leases_equal_active_dispatches_within_two_ticks_whatever_happens(operations, actor):
    """Active work never rises above the quota in force; lowering the quota ends none of it."""
    world = World(actor)
    for operation, number in operations:
        getattr(world, operation)(number)
        for _ in range(2):
            before = active().count()
            run_tick(world.hub)
            assert active().count() <= max(before, world.quota)
        assert leases("image") == {one.asset_pk: one.dispatch_id for one in active()}


def test_56_fifteen_thousand_leases_are_counted_right_while_others_are_taken():
    stage, fence = STAGES[StageName.IMAGE], Fence(1, server_time_s() + 600)
    held = [Claim(number, f"d{number}") for number in range(15_000)]
    sync_leases(stage, fence, held)
    with ThreadPoolExecutor(20) as pool:
        wishes = [[Wish(Claim(20_000 + number, f"n{number}"))] for number in range(200)]
        verdicts = list(pool.map(lambda wish: admit_leases(stage, fence, 15_050, 0, wish)[0], wishes))
    assert verdicts.count(Verdict.GRANTED) == 50
    assert len(leases("image")) == 15_050
    assert len(sync_leases(stage, fence, held).dropped) == 50
