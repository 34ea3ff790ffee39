"""Advisory file locks: `control` serialises start and stop, `users` is shared by everybody who uses the servers."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FileLock:
    """A flock on a file. It ends with the process, also when that is killed."""

    def __init__(self, path: Path) -> None:
        self._fd: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)

    def shared(self) -> None:
        fcntl.flock(self._descriptor(), fcntl.LOCK_SH)

    def exclusive(self) -> None:
        fcntl.flock(self._descriptor(), fcntl.LOCK_EX)

    def try_exclusive(self) -> bool:
        return self._try(fcntl.LOCK_EX)

    def try_shared(self) -> bool:
        return self._try(fcntl.LOCK_SH)

    def release(self) -> None:
        fcntl.flock(self._descriptor(), fcntl.LOCK_UN)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._descriptor(), kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _descriptor(self) -> int:
        if self._fd is None:
            raise ValueError("the lock is closed")
        return self._fd


@contextmanager
def exclusively(path: Path) -> Iterator[None]:
    lock = FileLock(path)
    try:
        lock.exclusive()
        yield
    finally:
        lock.close()
