"""Start a server process, wait for it, look at it, end it."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from .account import Account
from .errors import EmbeddedError

START_TIMEOUT_S = 60.0
POLL_S = 0.02
LOG_TAIL_LINES = 15
REMOVE_TIMEOUT_S = 10.0
PR_SET_PDEATHSIG = 1


def clean_environment() -> dict[str, str]:
    """Return our environment without anything that redirects PostgreSQL (PGHOST, PGDATA …)."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    environment["LC_ALL"] = "C"
    return environment


def start_server(
    command: Sequence[str | Path], log: Path, account: Account, ready: Callable[[], bool], name: str
) -> int:
    """Start `command` in a session of its own and wait until `ready()`; return its pid.

    Raises EmbeddedError with the end of the log when it ends early or is not ready within START_TIMEOUT_S.
    A session of its own keeps Ctrl-C away from the servers: they are stopped last, in order.
    """
    with log.open("ab") as output:
        child = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=clean_environment(),
            cwd="/",
            **account.popen_options(),  # type: ignore[call-overload]
        )
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if child.poll() is not None:
            raise EmbeddedError(f"{name} ended at once with code {child.returncode}.\n{log_tail(log)}")
        if ready():
            return int(child.pid)
        time.sleep(POLL_S)
    child.kill()
    child.wait()
    raise EmbeddedError(f"{name} was not ready after {START_TIMEOUT_S:.0f} s.\n{log_tail(log)}")


def die_with_parent() -> None:
    """Run in a child before its program: Linux then ends it when we are killed. Elsewhere it does nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def remove_tree(path: Path) -> None:
    """Remove a directory that a dying process may still be writing to; give up after REMOVE_TIMEOUT_S."""
    deadline = time.monotonic() + REMOVE_TIMEOUT_S
    while path.exists() and time.monotonic() < deadline:
        shutil.rmtree(path, ignore_errors=True)
        time.sleep(POLL_S)


def log_tail(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return f"(no log at {log})"
    return "\n".join([f"The end of {log}:", *lines[-LOG_TAIL_LINES:]])


def alive(pid: int) -> bool:
    """True when the process exists and is not a zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def runs_with(pid: int, argument: Path) -> bool:
    """True when the process is alive and was started with `argument` on its command line."""
    try:
        return alive(pid) and str(argument) in psutil.Process(pid).cmdline()
    except psutil.Error:
        return False


def end(pid: int, signals: Sequence[tuple[signal.Signals, float]]) -> bool:
    """Send each signal in turn and wait its seconds; return True when the process is gone."""
    for number, patience_s in signals:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return True
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if not alive(pid):
                return True
            time.sleep(POLL_S)
    return not alive(pid)
