"""The commands a person types, run as processes of their own."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import redis
from rq import Worker, cron_scheduler_registry

from animastor_site.embedded import servers
from animastor_site.embedded.layout import layout_for
from tests.embedded import cluster, copy_cluster, query  # noqa: F401 - a fixture
from tests.processes import PROJECT
from tests.waiting import wait_until

pytestmark = pytest.mark.long


@pytest.fixture
def home() -> Iterator[Path]:
    """A state directory of its own, as a fresh clone has."""
    with tempfile.TemporaryDirectory(prefix="animastor-home-", ignore_cleanup_errors=True) as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)
        layout = layout_for(Path(directory) / "servers")
        servers.release_keeper(layout)
        servers.stop(layout)


@pytest.fixture
def used_home(home: Path, cluster: Path) -> Path:
    """A state directory in which PostgreSQL ran before."""
    copy_cluster(cluster, home / "servers")
    return home


def start(home: Path, *arguments: str, **extra: str) -> "subprocess.Popen[str]":
    environment = {name: value for name, value in os.environ.items() if name not in ("ARTIFACT_ROOT", "SECRET_KEY")}
    environment |= {"ANIMASTOR_STATE_DIR": str(home), "ANIMASTOR_REDIS_DB": "0", "PYTHONUNBUFFERED": "1", **extra}
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )


def run(home: Path, *arguments: str, **extra: str) -> tuple[int, str, str]:
    process = start(home, *arguments, **extra)
    out, err = process.communicate(timeout=480)
    return process.returncode, out, err


def both_stopped(home: Path) -> bool:
    status = servers.status(layout_for(home / "servers"))
    return (status.postgres_pid, status.valkey_pid) == (None, None)


def test_demo_once_renders_the_sample_and_a_second_run_finds_it_ready(home):
    code, out, err = run(home, "demo", "--once", "--json", ANIMASTOR_VIDEO_PROFILE="draft")
    assert code == 0, err
    (line,) = out.splitlines()
    told = json.loads(line)
    assert told["stages"] == {stage: {"ready": told["scenes"]} for stage in ("audio", "image", "video")}
    assert told["scenes"] > 5

    def files() -> dict[str, list[Path]]:
        return {kind: sorted(Path(told["artifacts"]).glob(f"*/*.{kind}")) for kind in ("mp3", "webp", "mp4", "vtt")}

    made = files()
    scenes = told["scenes"]
    # The card comes beside the picture; narration and video have their subtitles each.
    assert {kind: len(paths) for kind, paths in made.items()} == {
        "mp3": scenes,
        "webp": 2 * scenes,
        "mp4": scenes,
        "vtt": 2 * scenes,
    }
    wait_until(lambda: both_stopped(home))
    code, out, _ = run(home, "demo", "--once", "--json")
    assert (code, json.loads(out)["scenes"]) == (0, scenes)
    assert files() == made


def lines_until(process: "subprocess.Popen[str]", wanted: str) -> list[str]:
    lines = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line.strip())
        if wanted in line:
            return lines
    raise AssertionError(f"{wanted!r} was not said: {lines}")


def test_the_demo_serves_takes_the_next_free_port_and_ends_everything_it_started(used_home):
    home = used_home
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        demo = start(home, "demo", "--port", str(port))
        said = "\n".join(lines_until(demo, "password"))
        assert f"http://127.0.0.1:{port}/" not in said
        address = next(word for word in said.split() if word.startswith("http://"))
        with urllib.request.urlopen(f"{address}admin/login/") as page:  # noqa: S310 - our own address
            assert "Animastor" in page.read().decode()
        children = psutil.Process(demo.pid).children(recursive=True)
        names = {" ".join(child.cmdline()[1:4]) for child in children if "manage.py" in child.cmdline()}
        assert {f"manage.py rqworker {queue}" for queue in ("gpu-audio", "gpu-image", "gpu-video", "assembly")} <= names
        assert "manage.py tick --loop" in names
        # As a shell starts a background job: SIGINT ignored until the program asks for it.
        demo.send_signal(signal.SIGINT)
        demo.communicate(timeout=60)
    psutil.wait_procs(children, timeout=20)
    assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    wait_until(lambda: both_stopped(home))


def test_killing_the_demo_ends_its_processes_and_its_servers(used_home):
    home = used_home
    demo = start(home, "demo", "--port", "18000")
    lines_until(demo, "password")
    children = psutil.Process(demo.pid).children(recursive=True)
    demo.kill()
    demo.communicate()
    wait_until(lambda: both_stopped(home))
    ours = [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    psutil.wait_procs(ours, timeout=20)
    assert not [child for child in ours if child.is_running() and "manage.py" in child.cmdline()]


def test_services_start_stays_until_services_stop(home):
    code, out, err = run(home, "services", "start")
    assert (code, out.count("running, pid")) == (0, 2), err
    status = json.loads(run(home, "services", "status", "--json")[1])
    assert status["kept"]
    assert None not in status.values()
    assert run(home, "migrate", "-v", "0")[0] == 0
    code, out, err = run(home, "tick", "--json")
    assert code == 0, err
    assert set(json.loads(out)) == {
        "total_active",
        "processed",
        "dispatched",
        "throttled",
        "skipped",
        "completed",
        "deferred",
        "blocked",
        "errors",
        "duration_ms",
    }
    assert run(home, "services", "stop")[1] == "Stopped.\n"
    wait_until(lambda: both_stopped(home))
    assert run(home, "services", "stop")[1] == "Nothing was running.\n"


def test_services_have_nothing_to_do_when_both_addresses_are_set(home):
    urls = {"DATABASE_URL": "postgres://nobody@nowhere/x", "REDIS_URL": "redis://nowhere", "SECRET_KEY": "x"}
    assert "Nothing is embedded" in run(home, "services", "start", **urls)[1]


def test_a_deployment_without_a_secret_key_does_not_start(home):
    code, _, err = run(home, "check", DATABASE_URL="postgres://nobody@nowhere/x")
    assert code != 0
    assert "SECRET_KEY" in err.splitlines()[-1]


def test_rqcron_puts_a_json_tick_on_its_queue(used_home):
    home = used_home
    run(home, "services", "start")
    run(home, "migrate", "-v", "0")
    cron = start(home, "rqcron", "dispatch.schedule")
    worker = start(home, "rqworker", "tick")
    try:
        layout = layout_for(home / "servers")
        with redis.Redis(unix_socket_path=str(layout.valkey_socket)) as connection:
            # Two processes start first, beside whatever else this machine renders.
            wait_until(lambda: Worker.all_keys(connection=connection), timeout_s=120)
            wait_until(lambda: cron_scheduler_registry.get_keys(connection), timeout_s=120)
        wait_until(lambda: query(layout, "SELECT 1 FROM dispatch_tickreport") != [])
    finally:
        for process in (cron, worker):
            process.terminate()
            process.communicate()


def test_without_a_database_a_command_says_how_to_start_one_and_shows_no_traceback(home):
    code, _, err = run(home, "tick", "--json")
    assert code == 1
    assert "manage.py services start" in err
    assert "Traceback" not in err


def test_a_port_that_cannot_be_is_refused_before_anything_starts(home):
    code, _, err = run(home, "demo", "--port", "99999")
    assert (code, "--port must be a number" in err, "Traceback" in err) == (1, True, False)
    assert both_stopped(home)
