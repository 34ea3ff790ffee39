"""Where the files, sockets and locks of one pair of embedded servers live. Pure: creates and starts nothing."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .account import Account, reachable, server_account

# sockaddr_un.sun_path holds 108 bytes with the closing NUL.
SOCKET_PATH_MAX = 107
POSTGRES_SOCKET = ".s.PGSQL.5432"
VALKEY_SOCKET = "valkey.sock"
# Data of a root start whose checkout the servers' account cannot reach.
SYSTEM_STATE = Path("/var/lib/animastor")


@dataclass(frozen=True)
class Layout:
    """All paths derive from `state`, so that every process of a checkout computes the same ones."""

    state: Path
    sockets: Path

    @property
    def valkey_data(self) -> Path:
        return self.state / "valkey"

    @property
    def logs(self) -> Path:
        return self.state / "log"

    @property
    def binaries(self) -> Path:
        return self.state / "bin"

    @property
    def control_lock(self) -> Path:
        return self.state / "control.lock"

    @property
    def users_lock(self) -> Path:
        return self.state / "users.lock"

    @property
    def guard_lock(self) -> Path:
        return self.state / "guard.lock"

    @property
    def keeper_pid(self) -> Path:
        return self.state / "keeper.pid"

    @property
    def valkey_socket(self) -> Path:
        return self.sockets / VALKEY_SOCKET

    def postgres_data(self, major: int) -> Path:
        return self.state / f"postgres-{major}"


def layout_for(state: Path) -> Layout:
    """Return the layout of the state directory `state`, moved to system folders where it must be."""
    account = server_account()
    state = state.resolve()
    digest = hashlib.sha256(os.fsencode(state)).hexdigest()[:12]
    if not reachable(state, account):
        state = SYSTEM_STATE / digest
    return Layout(state=state, sockets=_socket_directory(state, digest, account))


def _socket_directory(state: Path, digest: str, account: Account) -> Path:
    near = state / "run"
    longest = near / POSTGRES_SOCKET
    has_blank = any(character.isspace() for character in str(near))
    if len(os.fsencode(longest)) <= SOCKET_PATH_MAX and not has_blank:
        return near
    return Path(tempfile.gettempdir()) / f"animastor-{account.uid}-{digest}"
