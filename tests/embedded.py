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
from tests.processes import PROJECT


@pytest.fixture
def state() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="animastor-embedded-"))
    directory.chmod(0o755)
    yield directory / "servers"
    layout = layout_for(directory / "servers")
    servers.release_keeper(layout)
    servers.stop(layout)
    shutil.rmtree(directory, ignore_errors=True)
    shutil.rmtree(layout.sockets, ignore_errors=True)


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
