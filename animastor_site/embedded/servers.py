"""Start the pair of servers, hold them while they are used, stop them when nobody does."""

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from . import postgres, valkey
from .account import Account, server_account
from .children import end, runs_with
from .errors import EmbeddedError
from .layout import Layout
from .locks import FileLock, exclusively

PROJECT = Path(__file__).resolve().parents[2]
GUARD = "animastor_site.embedded.guard"
KEEPER = "animastor_site.embedded.keeper"


@dataclass(frozen=True)
class Status:
    postgres_pid: int | None
    valkey_pid: int | None
    kept: bool


class Use:
    """A user's hold on the servers. It ends with close() or with the process, whichever is first."""

    def __init__(self, layout: Layout) -> None:
        self._lock = FileLock(layout.users_lock)
        self._lock.shared()

    def close(self) -> None:
        self._lock.close()


def use(layout: Layout, *, postgres_on: bool = True, valkey_on: bool = True, durable: bool = True) -> Use:
    """Start what is not running and return a hold on it.

    The hold is taken before anything starts and the guard runs before the servers do, so that a process killed
    at any point leaves either nothing or servers which the guard stops.
    """
    account = server_account()
    layout.state.mkdir(parents=True, exist_ok=True)
    with exclusively(layout.control_lock):
        prepare_directories(layout, account)
        hold = Use(layout)
        try:
            _ensure_guard(layout)
            if postgres_on:
                postgres.ensure_postgres(layout, account, durable=durable)
            if valkey_on:
                valkey.ensure_valkey(layout, account)
        except BaseException:
            hold.close()
            raise
    return hold


def keep(layout: Layout) -> None:
    """Leave a process behind that holds the servers until `release_keeper`. Call while holding them yourself."""
    if kept(layout):
        return
    child = _detached(KEEPER, layout)
    if child.stdout is None or child.stdout.readline().strip() != b"holding":
        raise EmbeddedError("The process that keeps the servers running did not start.")


def release_keeper(layout: Layout) -> bool:
    """End the keeper; return True when there was one. The servers stop once nobody else uses them."""
    pid = _keeper_pid(layout)
    if pid is None:
        return False
    end(pid, [(signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)])
    layout.keeper_pid.unlink(missing_ok=True)
    return True


def stop(layout: Layout) -> tuple[bool, bool]:
    """Stop Valkey, then PostgreSQL, whoever uses them; return which of (PostgreSQL, Valkey) ran."""
    if not layout.state.exists():
        return (False, False)
    with exclusively(layout.control_lock):
        return stop_unlocked(layout)


def stop_unlocked(layout: Layout) -> tuple[bool, bool]:
    valkey_ran = valkey.stop_valkey(layout)
    postgres_ran = postgres.stop_postgres(layout)
    return (postgres_ran, valkey_ran)


def in_use(layout: Layout) -> bool:
    """True when any process holds the servers; the guard, which holds them alone for a moment, is no user."""
    if not layout.users_lock.exists():
        return False
    lock = FileLock(layout.users_lock)
    try:
        return not lock.try_exclusive() and lock.try_shared()
    finally:
        lock.close()


def status(layout: Layout) -> Status:
    return Status(postgres.running_pid(layout), valkey.running_pid(layout), kept(layout))


def kept(layout: Layout) -> bool:
    return _keeper_pid(layout) is not None


def prepare_directories(layout: Layout, account: Account) -> None:
    """Create the directories; refuse a socket directory that is a link or somebody else's. Needs the control lock."""
    layout.logs.mkdir(exist_ok=True)
    for directory in (layout.sockets, layout.valkey_data):
        if not directory.is_symlink() and not directory.exists():
            directory.mkdir(mode=0o700)
            account.own(directory)
        owner = directory.lstat().st_uid
        if directory.is_symlink() or owner != account.uid:
            raise EmbeddedError(
                f"{directory} is a link or belongs to user {owner}, not to user {account.uid}. "
                "Remove it, or set ANIMASTOR_STATE_DIR to another directory."
            )


def _keeper_pid(layout: Layout) -> int | None:
    try:
        pid = int(layout.keeper_pid.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return pid if runs_with(pid, layout.state) else None


def _ensure_guard(layout: Layout) -> None:
    probe = FileLock(layout.guard_lock)
    try:
        free = probe.try_exclusive()
    finally:
        probe.close()
    if free:
        _detached(GUARD, layout)


def _detached(module: str, layout: Layout) -> subprocess.Popen[bytes]:
    with (layout.logs / "guard.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", module, str(layout.state), str(layout.sockets)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            cwd=PROJECT,
        )
