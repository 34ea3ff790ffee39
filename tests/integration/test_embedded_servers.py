"""The embedded PostgreSQL and Valkey, started, killed and adopted for real. Each test has servers of its own."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from animastor_site.embedded import postgres, servers, valkey
from animastor_site.embedded.account import Account, reachable, server_account
from animastor_site.embedded.errors import EmbeddedError
from animastor_site.embedded.layout import SOCKET_PATH_MAX, Layout, layout_for
from tests.waiting import wait_until

PROJECT = Path(__file__).resolve().parents[2]


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


def test_a_second_user_adopts_the_running_servers(layout):
    first = use(layout)
    running = pids(layout)
    second = use(layout)
    assert None not in running
    assert pids(layout) == running
    first.close()
    second.close()


def test_users_that_start_at_the_same_moment_share_one_pair_of_servers(state, layout):
    command = [sys.executable, "-m", "tests.doubles.server_user", str(state)]
    users = [subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE) for _ in range(4)]
    assert [user.stdout.readline() for user in users if user.stdout] == [b"holding\n"] * 4
    serving = [
        process.pid
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] == "postgres" and str(layout.state) in " ".join(process.info["cmdline"] or [])
    ]
    assert serving == [pids(layout)[0]]
    for user in users:
        end_user(user)


def test_killing_the_only_user_stops_both_servers(state, layout):
    user = start_user(state)
    assert None not in pids(layout)
    end_user(user)
    wait_until(lambda: pids(layout) == (None, None))


def test_killing_one_of_two_users_leaves_the_servers_to_the_other(state, layout):
    first, second = start_user(state), start_user(state)
    running = pids(layout)
    end_user(first)
    assert servers.in_use(layout)
    assert pids(layout) == running
    end_user(second)
    wait_until(lambda: pids(layout) == (None, None))


def test_a_killed_initdb_leaves_nothing_that_the_next_start_trips_over(state, layout):
    user = subprocess.Popen([sys.executable, "-m", "tests.doubles.server_user", str(state)], cwd=PROJECT)
    wait_until(lambda: list(state.glob("postgres-*.new-*")))
    user.kill()
    user.wait()
    held = use(layout)
    assert query(layout, "SELECT 1") == [(1,)]
    assert list(state.glob("postgres-*.new-*")) == []
    held.close()


def test_killed_servers_come_back_with_their_data(layout):
    held = servers.use(layout)
    query(layout, "CREATE TABLE kept AS SELECT 7 AS number")
    for pid in pids(layout):
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: pids(layout) == (None, None))
    again = servers.use(layout)
    assert query(layout, "SELECT number FROM kept") == [(7,)]
    held.close()
    again.close()


def test_a_pid_file_that_names_a_foreign_process_is_removed(state, layout):
    use(layout).close()
    servers.stop(layout)
    data = next(path for path in state.glob("postgres-*") if path.is_dir())
    (data / "postmaster.pid").write_text(f"{os.getpid()}\n{data}\n")
    held = use(layout)
    assert query(layout, "SELECT 1") == [(1,)]
    held.close()


def test_the_servers_live_in_sessions_of_their_own_so_that_ctrl_c_does_not_reach_them(layout):
    held = use(layout)
    sessions = {os.getsid(pid) for pid in pids(layout) if pid}
    assert os.getsid(0) not in sessions
    held.close()


def test_a_blank_or_a_long_path_moves_the_sockets_to_the_temporary_folder():
    for name in ("with blank", "long" * 40):
        directory = Path(tempfile.mkdtemp(prefix="animastor-embedded-")) / name
        directory.mkdir()
        directory.parent.chmod(0o755)
        layout = layout_for(directory)
        held = use(layout)
        assert " " not in str(layout.valkey_socket)
        assert len(os.fsencode(layout.sockets / ".s.PGSQL.5432")) <= SOCKET_PATH_MAX
        assert query(layout, "SELECT 1") == [(1,)]
        assert layout.sockets.stat().st_mode & 0o777 == 0o700
        held.close()
        servers.stop(layout)
        shutil.rmtree(directory.parent)
        shutil.rmtree(layout.sockets)


def test_a_socket_directory_that_is_a_link_is_refused(state, layout, tmp_path):
    state.mkdir(parents=True)
    layout.sockets.symlink_to(tmp_path)
    with pytest.raises(EmbeddedError, match="is a link"):
        use(layout)


def test_variables_of_the_environment_do_not_redirect_the_servers(layout, monkeypatch):
    monkeypatch.setenv("PGHOST", "/nowhere")
    monkeypatch.setenv("PGDATA", "/nowhere")
    held = use(layout)
    assert query(layout, "SELECT 1") == [(1,)]
    held.close()


def test_without_any_server_program_the_error_names_the_variables(layout, monkeypatch):
    monkeypatch.setattr("animastor_site.embedded.binaries._package_directory", lambda _: None)
    monkeypatch.setattr("animastor_site.embedded.binaries.SYSTEM_POSTGRES", "/nowhere/*/bin")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EmbeddedError, match="set DATABASE_URL"):
        use(layout)


def test_a_server_that_ends_at_once_shows_the_end_of_its_log(state, layout, monkeypatch):
    broken = state.parent / "valkey-server"
    broken.write_text("#!/bin/sh\necho the disk is on fire\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("REDIS_SERVER_BIN", str(broken))
    with pytest.raises(EmbeddedError, match="(?s)ended at once with code 3.*the disk is on fire"):
        use(layout)
    assert not servers.in_use(layout)


def test_valkey_never_evicts_and_keeps_what_it_is_told(layout):
    held = use(layout)
    with redis.Redis(unix_socket_path=str(layout.valkey_socket), decode_responses=True) as client:
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert client.config_get("appendonly") == {"appendonly": "yes"}
    held.close()


def test_a_fresh_valkey_forgets_the_scheduler_locks_of_a_hard_kill(layout):
    held = use(layout)
    with redis.Redis(unix_socket_path=str(layout.valkey_socket)) as client:
        client.set("rq:scheduler-lock:tick", "dead")
        client.set("kept", "yes")
        client.bgrewriteaof()
    servers.stop(layout)
    again = use(layout)
    with redis.Redis(unix_socket_path=str(layout.valkey_socket)) as client:
        assert client.get("rq:scheduler-lock:tick") is None
        assert client.get("kept") == b"yes"
    held.close()
    again.close()


def test_kept_servers_outlive_their_starter_until_they_are_released(layout):
    held = use(layout)
    servers.keep(layout)
    held.close()
    assert servers.status(layout).kept
    assert None not in pids(layout)
    assert servers.release_keeper(layout)
    wait_until(lambda: pids(layout) == (None, None))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to drop privileges")
def test_root_runs_the_servers_as_an_unprivileged_user(layout):
    held = use(layout)
    owners = {psutil.Process(pid).uids().real for pid in pids(layout) if pid}
    assert owners == {server_account().uid}
    assert 0 not in owners
    held.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to drop privileges")
def test_root_moves_the_data_out_of_a_checkout_that_others_cannot_reach():
    private = Path(tempfile.mkdtemp(prefix="animastor-embedded-"))
    private.chmod(0o700)
    layout = layout_for(private / "servers")
    assert not layout.state.is_relative_to(private)
    held = use(layout)
    assert query(layout, "SELECT 1") == [(1,)]
    assert private.stat().st_mode & 0o777 == 0o700
    held.close()
    servers.stop(layout)
    shutil.rmtree(layout.state)
    shutil.rmtree(private)


def test_reachable_looks_at_every_step_of_the_path(tmp_path):
    stranger = Account(uid=54321, gid=54321, switch=True)
    inside = tmp_path / "inner" / "data"
    inside.mkdir(parents=True)
    for step in (tmp_path, *tmp_path.parents):
        if step.stat().st_uid == os.geteuid() and step != Path("/"):
            step.chmod(step.stat().st_mode | 0o055)
    assert reachable(inside, stranger)
    inside.parent.chmod(0o700)
    assert not reachable(inside, stranger)
