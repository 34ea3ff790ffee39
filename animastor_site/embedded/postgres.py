"""The embedded PostgreSQL: create the data directory, start, adopt, stop."""

import secrets
import signal
import subprocess
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from .account import Account
from .binaries import postgres_bindir, postgres_major
from .children import clean_environment, die_with_parent, end, log_tail, remove_tree, runs_with, start_server
from .errors import EmbeddedError
from .layout import POSTGRES_SOCKET, Layout

USER = "animastor"
DATABASE = "animastor"
PID_FILE = "postmaster.pid"
INITDB_TIMEOUT_S = 120
# Our statements are many and short; compiling one costs more than it saves.
SETTINGS = ("listen_addresses=", "max_connections=200", "jit=off", "shared_buffers=256MB", "wal_buffers=64MB")
# Tests only: their data is thrown away, and fsync is most of their time.
UNSAFE_BUT_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


def ensure_postgres(layout: Layout, account: Account, *, durable: bool) -> int:
    """Adopt the running server of this layout or start it; return its pid. Call under the control lock."""
    bindir = postgres_bindir(layout, account)
    data = layout.postgres_data(postgres_major(bindir))
    running = running_pid(layout)
    if running is None:
        _create_cluster(bindir, data, layout, account)
        _remove_stale_lock_files(data, layout)
        running = _start(bindir, data, layout, account, durable=durable)
    elif data_directory(layout) != data:
        raise EmbeddedError(
            f"Another PostgreSQL ({data_directory(layout)}) answers in {layout.sockets}. Stop it, or set DATABASE_URL."
        )
    _create_database(layout)
    return running


def running_pid(layout: Layout) -> int | None:
    """Return the pid of the server that answers on our socket, None when nobody does."""
    directory = data_directory(layout)
    if directory is None:
        return None
    return _pid_in_file(directory / PID_FILE)


def data_directory(layout: Layout) -> Path | None:
    """Ask the server behind our socket which data it serves; None when nobody answers."""
    try:
        with psycopg.connect(_address(layout)) as connection:
            row = connection.execute("SHOW data_directory").fetchone()
    except psycopg.OperationalError:
        return None
    return Path(row[0]) if row else None


def stop_postgres(layout: Layout) -> bool:
    """Fast shutdown, then immediate; return True when a server was stopped. Call under the control lock."""
    pid = running_pid(layout)
    if pid is None:
        return False
    if not end(pid, [(signal.SIGINT, 20.0), (signal.SIGQUIT, 10.0)]):
        raise EmbeddedError(f"PostgreSQL (pid {pid}) does not stop.")
    return True


def _address(layout: Layout) -> str:
    return make_conninfo("", host=str(layout.sockets), port=5432, user=USER, dbname="postgres", connect_timeout=5)


def _create_cluster(bindir: Path, data: Path, layout: Layout, account: Account) -> None:
    """Run initdb into a temporary name and rename: a killed initdb leaves a directory that never works."""
    for leftover in data.parent.glob(f"{data.name}.new-*"):
        remove_tree(leftover)
    if data.exists():
        _refuse_foreign(data, account)
        return
    temporary = data.with_name(f"{data.name}.new-{secrets.token_hex(4)}")
    temporary.mkdir(mode=0o700)
    account.own(temporary)
    log = layout.logs / "initdb.log"
    command = [bindir / "initdb", "-D", temporary, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"]
    command += ["--locale=C"]
    if postgres_major(bindir) >= 17:
        command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    with log.open("ab") as output:
        result = subprocess.run(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=clean_environment(),
            cwd="/",
            timeout=INITDB_TIMEOUT_S,
            preexec_fn=die_with_parent,
            **account.popen_options(),  # type: ignore[call-overload]
        )
    if result.returncode != 0:
        raise EmbeddedError(f"initdb failed with code {result.returncode}.\n{log_tail(log)}")
    temporary.rename(data)


def _refuse_foreign(data: Path, account: Account) -> None:
    owner = data.stat().st_uid
    if data.is_symlink() or owner != account.uid:
        raise EmbeddedError(
            f"{data} belongs to user {owner}, but PostgreSQL would run as user {account.uid}. "
            "Start as the user who created it, or set ANIMASTOR_STATE_DIR to another directory."
        )


def _start(bindir: Path, data: Path, layout: Layout, account: Account, *, durable: bool) -> int:
    command: list[str | Path] = [bindir / "postgres", "-D", data]
    settings = [*SETTINGS, f"unix_socket_directories={layout.sockets}"]
    for setting in [*settings, *(() if durable else UNSAFE_BUT_FAST)]:
        command += ["-c", setting]
    log = layout.logs / "postgres.log"
    return start_server(command, log, account, lambda: data_directory(layout) == data, "PostgreSQL")


def _remove_stale_lock_files(data: Path, layout: Layout) -> None:
    """PostgreSQL refuses to start while a lock file names any process that exists: another's, or its own zombie."""
    for file in (data / PID_FILE, layout.sockets / f"{POSTGRES_SOCKET}.lock"):
        pid = _pid_in_file(file)
        if pid is None:
            continue
        if runs_with(pid, data):
            raise EmbeddedError(f"PostgreSQL (pid {pid}) serves {data} but does not answer. Stop it and try again.")
        file.unlink(missing_ok=True)


def _pid_in_file(file: Path) -> int | None:
    try:
        lines = file.read_text().splitlines()
    except FileNotFoundError:
        return None
    return int(lines[0]) if lines and lines[0].strip().isdigit() else None


def _create_database(layout: Layout) -> None:
    with psycopg.connect(_address(layout), autocommit=True) as connection:
        exists = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if not exists:
            connection.execute(f'CREATE DATABASE "{DATABASE}"')
