"""Workers in simulated time: every job takes as long as it is told to and ends as its asset's `failure_of` says."""

from collections.abc import Callable, Iterable
from math import ceil

from django.db.models import Min

from dispatch.capacity.snapshot import Circuit, read_stage
from dispatch.failures import Failure
from dispatch.hubs.base import JobRef
from dispatch.models import Dispatch
from dispatch.results.accept import accept_error
from dispatch.tick import run_tick
from generation.models import Asset
from tests.doubles.clock import Clock
from tests.doubles.hub import FakeHub
from tests.doubles.pictures import deliver

TICK_S = 5


def always_works(_: Asset) -> Failure | None:
    return None


class Simulation:
    """`circuits` are the states the stage's circuit was seen in, `served` the books in the order they were served."""

    def __init__(
        self, hub: FakeHub, clock: Clock, job_s: float, failure_of: Callable[[Asset], Failure | None] = always_works
    ) -> None:
        self.hub, self.clock, self.job_s, self.failure_of = hub, clock, job_s, failure_of
        self.ends_at: dict[str, float] = {}
        self.circuits: set[Circuit] = set()
        self.served: list[int] = []
        self.most_running = 0

    def run_until(self, is_over: Callable[[], bool], most_s: float = 20_000) -> float:
        """Tick until it is over, and return how many seconds passed."""
        began = self.clock.passed_s
        while not is_over():
            assert self.clock.passed_s - began < most_s, "it does not end"
            self.step()
        return self.clock.passed_s - began

    def step(self) -> None:
        run_tick(self.hub)
        self.circuits.add(read_stage("image").circuit)
        active = Dispatch.objects.filter(status="active").order_by("pk")
        self.most_running = max(self.most_running, len(active))
        for dispatch in active:
            ref = JobRef(dispatch.dispatch_id, dispatch.jobs.get().job_id, dispatch.stage)
            if dispatch.dispatch_id not in self.ends_at and ref in self.hub.jobs:
                self.hub.running.add(ref)
                self.ends_at[dispatch.dispatch_id] = self.clock.passed_s + self.job_s
                self.served.append(dispatch.book_pk)
        self.clock.forward(self._until_something_happens(active))
        for dispatch in active.select_related("asset"):
            if self.ends_at.get(dispatch.dispatch_id, self.clock.passed_s + 1) <= self.clock.passed_s:
                self.end(dispatch)

    def _until_something_happens(self, active: Iterable[Dispatch]) -> float:
        """Return the seconds to the first tick, one every 5 s, that finds a job ended or a deferral over."""
        now = self.clock.passed_s
        moments = [self.ends_at[dispatch.dispatch_id] for dispatch in active if dispatch.dispatch_id in self.ends_at]
        deferred = Asset.objects.filter(state="pending", deferred_until__gt=self.clock.now)
        over = deferred.aggregate(first=Min("deferred_until"))["first"]
        if over is not None:
            moments.append((over - self.clock.began).total_seconds())
        ticks = ceil((min(moments, default=now) - now) / TICK_S)
        return max(1, ticks) * TICK_S

    def end(self, dispatch: Dispatch) -> None:
        """The worker hands over what it made."""
        job_id = dispatch.jobs.get().job_id
        failure = self.failure_of(dispatch.asset)
        if failure is None:
            assert deliver(dispatch).accepted
        else:
            accept_error(dispatch.dispatch_id, job_id, "", failure)
        self.hub.forget(JobRef(dispatch.dispatch_id, job_id, dispatch.stage))
