"""Embedded servers of a test's own."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from animastor_site.embedded import postgres, servers, valkey
from animastor_site.embedded.layout import Layout, layout_for
from animastor_site.embedded.locks import exclusively
from tests.processes import PROJECT
from tests.servers import STATE


@pytest.fixture(scope="session")
def cluster(testrun_uid: str) -> Path:
    """The state directory of servers that ran once: initdb takes two seconds, a copy of what it made none."""
    clusters = STATE / "clusters"
    clusters.mkdir(parents=True, exist_ok=True)
    with exclusively(clusters / "lock"):
        layout = layout_for(clusters / testrun_uid)
        if not layout.state.exists():
            for old in clusters.glob("*/"):
                shutil.rmtree(old)
            servers.use(layout, valkey_on=False, durable=False).close()
            servers.stop(layout)
    return layout.state


@pytest.fixture
def empty_state() -> Iterator[Path]:
    """A state directory as a fresh clone has it."""
    directory = Path(tempfile.mkdtemp(prefix="animastor-embedded-"))
    directory.chmod(0o755)
    yield directory / "servers"
    layout = layout_for(directory / "servers")
    servers.release_keeper(layout)
    servers.stop(layout)
    shutil.rmtree(directory, ignore_errors=True)
    shutil.rmtree(layout.sockets, ignore_errors=True)


@pytest.fixture
def state(empty_state: Path, cluster: Path) -> Path:
    """A state directory in which PostgreSQL ran before."""
    copy_cluster(cluster, empty_state)
    return empty_state


def copy_cluster(cluster: Path, state: Path) -> None:
    """Copy the data directory, with its owner."""
    state.mkdir()
    for data in cluster.glob("postgres-*"):
        subprocess.run(["/bin/cp", "-a", data, state], check=True)


@pytest.fixture
def layout(state: Path) -> Layout:
    return layout_for(state)


def start_user(state: Path) -> "subprocess.Popen[bytes]":
    user = subprocess.Popen(
        [sys.executable, "-m", "tests.doubles.server_user", str(state)], cwd=PROJECT, stdout=subprocess.PIPE
    )
    assert user.stdout is not None
    assert user.stdout.readline() == b"holding\n"
    return user


def end_user(user: "subprocess.Popen[bytes]") -> None:
    user.kill()
    user.wait()
    if user.stdout is not None:
        user.stdout.close()


def pids(layout: Layout) -> tuple[int | None, int | None]:
    return postgres.running_pid(layout), valkey.running_pid(layout)


def use(layout: Layout) -> servers.Use:
    return servers.use(layout, durable=False)


def query(layout: Layout, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(
        host=str(layout.sockets), user=postgres.USER, dbname=postgres.DATABASE, autocommit=True
    ) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []
