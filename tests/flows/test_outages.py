"""Outages under load, with real servers and real processes that a supervisor keeps running."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from animastor_site.embedded import servers
from animastor_site.embedded.layout import layout_for
from tests.embedded import cluster, copy_cluster, query  # noqa: F401 - a fixture
from tests.processes import PROJECT
from tests.waiting import wait_until

pytestmark = pytest.mark.long

SCENES = 24
PARAGRAPH = "The grey ship sailed on through the long cold morning while the sailors sang of home. " * 5
SUPERVISED = {
    "tick": ["tick", "--loop"],
    "worker-1": ["rqworker", "gpu-image"],
    "worker-2": ["rqworker", "gpu-image"],
}


class House:
    """A state directory with its servers, a tick and two workers under load."""

    def __init__(self, home: Path) -> None:
        self.home, self.layout = home, layout_for(home / "servers")
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        environment = {name: value for name, value in os.environ.items() if name not in ("ARTIFACT_ROOT", "SECRET_KEY")}
        environment |= {"ANIMASTOR_STATE_DIR": str(self.home), "ANIMASTOR_REDIS_DB": "0"}
        log = (self.home / f"{arguments[0]}.log").open("ab")
        with log:
            return subprocess.Popen(
                [sys.executable, "manage.py", *arguments], cwd=PROJECT, env=environment, stdout=log, stderr=log
            )

    def run(self, *arguments: str) -> None:
        assert self.start(*arguments).wait(timeout=120) == 0, (self.home / f"{arguments[0]}.log").read_text()[-2000:]

    def supervise(self) -> None:
        """Start what does not run."""
        for name, arguments in SUPERVISED.items():
            if name not in self.processes or self.processes[name].poll() is not None:
                self.processes[name] = self.start(*arguments)

    def kill_all(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def number(self, what: str) -> int:
        """Return the number that PostgreSQL answers, -1 while it is away."""
        try:
            return int(query(self.layout, f"SELECT {what}")[0][0])
        except psycopg.Error:
            return -1

    def ready(self) -> int:
        return self.number("count(*) FROM generation_asset WHERE state = 'ready'")

    def failed_ticks(self) -> int:
        return len(re.findall("capacity_unavailable|tick failed", (self.home / "tick.log").read_text()))

    def wait_for_ready(self, number: int, timeout_s: float) -> None:
        def enough() -> bool:
            self.supervise()
            return self.ready() >= number

        wait_until(enough, timeout_s)

    def redis(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.layout.valkey_socket))


@pytest.fixture
def house(cluster: Path) -> Iterator[House]:  # noqa: F811 - the fixture
    with tempfile.TemporaryDirectory(prefix="animastor-outage-", ignore_cleanup_errors=True) as directory:
        home = Path(directory)
        home.chmod(0o755)
        copy_cluster(cluster, home / "servers")
        house = House(home)
        try:
            house.run("services", "start")
            house.run("migrate")
            book = home / "book.txt"
            book.write_text("\n\n".join(f"{PARAGRAPH} It was day {number}." for number in range(SCENES)))
            house.run("import_book", str(book), "--key", "book")
            yield house
        finally:
            house.kill_all()
            servers.release_keeper(house.layout)
            servers.stop(house.layout)


def empty_redis(house: House) -> None:
    house.redis().flushall()


def kill_a_worker(house: House) -> None:
    """SIGKILL to a worker that renders, and to the process that it renders in."""

    def busy() -> psutil.Process | None:
        found = (psutil.Process(house.processes[name].pid) for name in ("worker-1", "worker-2"))
        return next((process for process in found if process.children()), None)

    wait_until(busy)
    worker = busy() or psutil.Process(house.processes["worker-1"].pid)
    for process in (worker, *worker.children()):
        process.kill()


def restart_postgresql(house: House) -> None:
    """PostgreSQL ends in the middle of what it does, and stays away until a tick has failed."""
    pid, failed = servers.status(house.layout).postgres_pid, house.failed_ticks()
    os.kill(pid, signal.SIGQUIT)
    wait_until(lambda: house.failed_ticks() > failed)
    house.run("services", "start")


def take_the_hub_away(house: House) -> None:
    """The Redis of hub and capacity is away for some ticks, and comes back empty."""
    pid, failed = servers.status(house.layout).valkey_pid, house.failed_ticks()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: house.failed_ticks() > failed + 2, 60)
    house.run("services", "start")


def kill_the_tick(house: House) -> None:
    """SIGKILL to the tick, whatever it does just now, three times."""

    def taken_over_since(fence: int) -> Callable[[], bool]:
        return lambda: house.number("fence FROM dispatch_ticklease") > fence

    for _ in range(3):
        killed = house.processes["tick"]
        killed.kill()
        killed.wait()
        house.supervise()
        # Whoever comes next waits until the lease of the killed one has expired.
        wait_until(taken_over_since(house.number("fence FROM dispatch_ticklease")), 60)


@pytest.mark.parametrize(
    ("outage", "most_retries"),
    # A worker that cannot beat for long ends, with what it renders: at most one retry for each of the two.
    [(empty_redis, 0), (restart_postgresql, 0), (take_the_hub_away, 2), (kill_a_worker, 1), (kill_the_tick, 0)],
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_an_outage_under_load_is_recovered_from_alone_and_nothing_is_lost(
    house: House, outage: Callable[[House], None], most_retries: int, capsys: pytest.CaptureFixture[str]
) -> None:
    house.supervise()
    wait_until(lambda: house.redis().scard("{animastor}:rq:workers") == 2, 120)
    scenes = house.number("count(*) FROM generation_scene")
    assert scenes >= SCENES // 2
    house.run("regenerate", "book", "--stage", "image")
    house.wait_for_ready(3, 120)
    outage(house)
    began, before = time.monotonic(), house.ready()
    house.wait_for_ready(before + 1, 240)
    first_s = time.monotonic() - began
    house.wait_for_ready(scenes, 300)
    took_s = time.monotonic() - began
    retries = house.number("sum(10 - retries_left) FROM generation_asset WHERE stage = 'image'")
    with capsys.disabled():
        told = f"next picture after {first_s:.0f} s, all {scenes} after {took_s:.0f} s, {retries} retries"
        print(f"\n{outage.__name__}: {told}")  # noqa: T201
    assert 0 <= retries <= most_retries
    assert house.number("count(*) FROM generation_artifact") == scenes
    wait_until(lambda: house.number("count(*) FROM generation_task WHERE status = 'completed'") == 1)
    assert house.number("count(*) FROM dispatch_job WHERE status IN ('reserved', 'sent', 'stopping')") == 0
    wait_until(lambda: house.redis().zcard("{animastor}:image:active") == 0)
