"""Hours of work in simulated time: what is broken costs the rest next to nothing, and every book is served."""

from collections import Counter
from datetime import timedelta

import pytest

from dispatch.capacity.snapshot import Circuit
from dispatch.failures import Failure
from dispatch.hubs.base import JobRef
from dispatch.models import Dispatch
from dispatch.tick import run_tick
from generation.commands import regenerate
from generation.commands.scopes import Scope
from generation.models import Asset, JournalEntry, StageConfig
from tests.doubles.clock import stopped_clock
from tests.doubles.pictures import store_picture
from tests.factories.books import images_of, make_book
from tests.flows.asking import ask
from tests.flows.simulation import TICK_S, Simulation

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

SCENES, JOB_S, QUOTA = 400, 20, 8
CLEAN_S = SCENES * JOB_S / QUOTA
POISON = Failure("render_failed", "The brush breaks.")
UNSPEAKABLE = Failure("nothing_to_render", "No words.")


@pytest.fixture(autouse=True)
def no_rings(settings):
    """A tick every 5 s and no more: a ring would be answered at the same simulated second anyway."""
    settings.ANIMASTOR = settings.ANIMASTOR | {"ring_gap": timedelta(0)}


@pytest.mark.parametrize(
    ("broken", "failure"),
    [
        ({}, None),
        ({1: 0}, POISON),
        ({1: 0, 150: 0, 300: 0}, POISON),
        (dict.fromkeys(range(1, 61), 0), UNSPEAKABLE),
    ],
    ids=["clean", "1 poisoned", "3 poisoned", "60 unspeakable"],
)
def test_broken_scenes_cost_the_others_less_than_a_tenth_and_open_no_circuit(broken, failure, actor, hub, capsys):
    with stopped_clock() as clock:
        StageConfig.objects.create(stage="image", quota=QUOTA)
        ask(make_book(scenes=SCENES), actor)
        simulation = Simulation(hub, clock, JOB_S, lambda asset: failure if asset.position in broken else None)
        healthy = Asset.objects.filter(stage="image").exclude(position__in=broken)
        took_s = simulation.run_until(lambda: not healthy.exclude(state="ready").exists())
        with capsys.disabled():
            print(f"\n{len(broken)} broken of {SCENES}: the others took {took_s:.0f} s, clean {CLEAN_S:.0f} s")  # noqa: T201
        assert took_s <= CLEAN_S * 1.1
        assert simulation.circuits == {Circuit.CLOSED}
        assert not JournalEntry.objects.filter(event="circuit_opened").exists()
        assert simulation.most_running <= QUOTA


def test_twenty_books_share_a_quota_of_two_and_each_is_served_in_every_round(actor, hub):
    with stopped_clock() as clock:
        StageConfig.objects.create(stage="image", quota=2)
        books = [make_book(scenes=12) for _ in range(20)]
        for number, book in enumerate(books):
            # Some begin at scene 10, others at the first.
            scene = book.scenes.get(position=1 + number % 10)
            regenerate.apply(regenerate.Request(book.pk, ("image",), Scope.FROM_SCENE, (scene.pk,)), actor)
        simulation = Simulation(hub, clock, JOB_S)
        simulation.run_until(lambda: len(simulation.served) >= 60)
        for number in range(3):
            in_this_round = Counter(simulation.served[20 * number : 20 * (number + 1)])
            assert in_this_round == Counter({book.pk: 1 for book in books}), number


def test_a_hub_that_is_away_for_ten_minutes_under_load_costs_those_minutes_and_nothing_else(actor, hub, capsys):
    with stopped_clock() as clock:
        StageConfig.objects.create(stage="image", quota=QUOTA)
        book = make_book(scenes=80)
        ask(book, actor)
        simulation = Simulation(hub, clock, JOB_S)
        simulation.run_until(lambda: Asset.objects.filter(state="ready").count() >= 24)
        run_tick(hub)
        hub.down = True
        # What its workers finish meanwhile waits in its mailbox.
        for dispatch in Dispatch.objects.filter(status="active"):
            ref = JobRef(dispatch.dispatch_id, dispatch.jobs.get().job_id, dispatch.stage)
            files = {role: file.as_json() for role, file in store_picture(dispatch).items()}
            hub.forget(ref)
            hub.finished[ref] = {"build_id": str(dispatch.build_id), "files": files}
            simulation.ends_at[dispatch.dispatch_id] = float("inf")
        for _ in range(600 // TICK_S):
            run_tick(hub)
            clock.forward(TICK_S)
        assert Asset.objects.filter(state="ready").count() == 24
        assert Dispatch.objects.filter(status="active").count() == QUOTA
        hub.down = False
        began = clock.passed_s
        run_tick(hub)
        assert Asset.objects.filter(state="ready").count() == 24 + QUOTA
        simulation.run_until(lambda: Asset.objects.filter(stage="image", state="ready").count() == 80)
        with capsys.disabled():
            rest_s = (80 - 24 - QUOTA) * JOB_S / QUOTA
            print(f"\nhub away for 600 s: the rest took {clock.passed_s - began:.0f} s, clean {rest_s:.0f} s")  # noqa: T201
        assert clock.passed_s - began <= rest_s * 1.1
        assert {asset.retries_left for asset in images_of(book)} == {10}
        assert Dispatch.objects.count() == 80
        assert simulation.circuits == {Circuit.CLOSED}
