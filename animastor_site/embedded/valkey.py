"""The embedded Valkey: start, adopt, stop."""

import signal
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from .account import Account
from .binaries import valkey_server
from .children import end, start_server
from .errors import EmbeddedError
from .layout import Layout

# RQ's scheduler lock outlives a hard kill by 60 s and stalls scheduled jobs for that long.
SCHEDULER_LOCKS = "rq:scheduler-lock:*"
# Tests give each of their processes a database of its own.
DATABASES = 64


def ensure_valkey(layout: Layout, account: Account) -> int:
    """Adopt the running server of this layout or start it; return its pid. Call under the control lock.

    A second server on the same socket path would silently take the socket over, so the path is asked first.
    """
    serving = data_directory(layout)
    if serving is None:
        return _start(layout, account)
    if serving != layout.valkey_data:
        raise EmbeddedError(f"Another server ({serving}) answers on {layout.valkey_socket}. Stop it, or set REDIS_URL.")
    pid = running_pid(layout)
    if pid is None:
        raise EmbeddedError(f"The server on {layout.valkey_socket} went away while it was looked at. Try again.")
    return pid


def running_pid(layout: Layout) -> int | None:
    try:
        with _client(layout) as client:
            info = client.info("server")
    except (redis.ConnectionError, redis.TimeoutError):
        return None
    return int(info["process_id"])


def data_directory(layout: Layout) -> Path | None:
    """Ask the server behind our socket where it keeps its data; None when nobody answers."""
    try:
        with _client(layout) as client:
            answer = client.config_get("dir")
    except (redis.ConnectionError, redis.TimeoutError):
        return None
    return Path(str(answer["dir"]))


def stop_valkey(layout: Layout) -> bool:
    """Return True when a server was stopped. Call under the control lock."""
    pid = running_pid(layout)
    if pid is None:
        return False
    if not end(pid, [(signal.SIGTERM, 20.0), (signal.SIGKILL, 5.0)]):
        raise EmbeddedError(f"Valkey (pid {pid}) does not stop.")
    layout.valkey_socket.unlink(missing_ok=True)
    return True


def _client(layout: Layout) -> redis.Redis:
    return redis.Redis(
        unix_socket_path=str(layout.valkey_socket),
        socket_timeout=5,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
    )


def _start(layout: Layout, account: Account) -> int:
    program = valkey_server(layout, account)
    layout.valkey_socket.unlink(missing_ok=True)
    command: list[str | Path] = [program, "--port", "0", "--unixsocket", layout.valkey_socket]
    command += ["--unixsocketperm", "700", "--dir", layout.valkey_data, "--daemonize", "no"]
    command += ["--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"]
    command += ["--databases", str(DATABASES)]
    log = layout.logs / "valkey.log"
    pid = start_server(command, log, account, lambda: _loaded(layout), "Valkey")
    with _client(layout) as client:
        for key in client.scan_iter(SCHEDULER_LOCKS):
            client.delete(key)
    return pid


def _loaded(layout: Layout) -> bool:
    try:
        with _client(layout) as client:
            return bool(client.ping())
    except (redis.ConnectionError, redis.TimeoutError):
        return False
