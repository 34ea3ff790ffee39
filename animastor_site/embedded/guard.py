"""A detached process that stops the servers when their last user is gone, however that user ended."""

import sys
from pathlib import Path

from .layout import Layout
from .locks import FileLock, exclusively
from .servers import stop_unlocked


def watch(layout: Layout) -> None:
    """Wait until nobody holds the servers, then stop them.

    The wait is only a hint: the decision is made again under the control lock, which a starting user holds too.
    """
    alone = FileLock(layout.guard_lock)
    if not alone.try_exclusive():
        return
    users = FileLock(layout.users_lock)
    while True:
        users.exclusive()
        users.release()
        with exclusively(layout.control_lock):
            if users.try_exclusive():
                stop_unlocked(layout)
                alone.close()
                return


if __name__ == "__main__":
    watch(Layout(state=Path(sys.argv[1]), sockets=Path(sys.argv[2])))
