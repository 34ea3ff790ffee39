"""Children that do not outlive who started them."""

import ctypes
import os
import signal

PR_SET_PDEATHSIG = 1


def die_with_parent(parent_pid: int | None) -> None:
    """Ask Linux to kill this process when its parent dies: an orphan must not finish work that was given away."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return  # not Linux: the evidence of a dead worker is enough, only later
    if parent_pid is not None and os.getppid() != parent_pid:
        os._exit(1)
