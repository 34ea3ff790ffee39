"""Which operating-system account runs the servers: ours, or an unprivileged one when we are root."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from .errors import EmbeddedError

UNPRIVILEGED = ("postgres", "nobody")


@dataclass(frozen=True)
class Account:
    """A user and group to run as; `switch` is True when that differs from the present process."""

    uid: int
    gid: int
    switch: bool

    def popen_options(self) -> dict[str, object]:
        if not self.switch:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        if self.switch:
            os.chown(path, self.uid, self.gid)


def server_account() -> Account:
    """Return ourselves, or the first unprivileged account when we are root (PostgreSQL refuses root)."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), switch=False)
    for name in UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, switch=True)
    raise EmbeddedError(
        "PostgreSQL does not run as root, and there is neither a user 'postgres' nor 'nobody'. "
        "Set DATABASE_URL and REDIS_URL, or start as another user."
    )


def reachable(path: Path, account: Account) -> bool:
    """True when the account may walk down to `path` and read it; missing tails are ignored."""
    if not account.switch:
        return True
    for step in [path, *path.parents]:
        try:
            status = step.stat()
        except FileNotFoundError:
            continue
        needed = 0o5 if step == path else 0o1
        if status.st_uid == account.uid:
            needed <<= 6
        elif status.st_gid == account.gid:
            needed <<= 3
        if status.st_mode & needed != needed:
            return False
    return True
