"""Where the embedded servers live, what they refuse, and what their errors say."""

import os
import shutil
import tempfile
from pathlib import Path

import psutil
import pytest
import redis

from animastor_site.embedded import servers
from animastor_site.embedded.account import Account, reachable, server_account
from animastor_site.embedded.errors import EmbeddedError
from animastor_site.embedded.layout import SOCKET_PATH_MAX, layout_for
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
from tests.waiting import wait_until

pytestmark = pytest.mark.long


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


def test_a_socket_directory_that_is_a_link_is_refused(layout, tmp_path):
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
def test_root_runs_the_servers_as_an_unprivileged_user(empty_state):
    layout = layout_for(empty_state)
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
