"""The embedded PostgreSQL and Valkey, started, killed and adopted for real. Each test has servers of its own."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from animastor_site.embedded import servers
from animastor_site.embedded.layout import layout_for
from tests.embedded import (  # noqa: F401 - fixtures
    cluster,
    empty_state,
    end_user,
    layout,
    pids,
    query,
    start_user,
    state,
    use,
)
from tests.processes import PROJECT
from tests.waiting import wait_until

pytestmark = pytest.mark.long


def test_a_second_user_adopts_the_running_servers(layout):
    first = use(layout)
    running = pids(layout)
    second = use(layout)
    assert None not in running
    assert pids(layout) == running
    first.close()
    second.close()


def test_users_that_start_at_the_same_moment_share_one_pair_of_servers(empty_state):
    layout = layout_for(empty_state)
    command = [sys.executable, "-m", "tests.doubles.server_user", str(empty_state)]
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


def test_a_killed_initdb_leaves_nothing_that_the_next_start_trips_over(empty_state):
    layout = layout_for(empty_state)
    user = subprocess.Popen([sys.executable, "-m", "tests.doubles.server_user", str(empty_state)], cwd=PROJECT)
    wait_until(lambda: list(empty_state.glob("postgres-*.new-*")))
    user.kill()
    user.wait()
    held = use(layout)
    assert query(layout, "SELECT 1") == [(1,)]
    assert list(empty_state.glob("postgres-*.new-*")) == []
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
