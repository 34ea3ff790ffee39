"""A detached process whose only work is to hold the servers between `services start` and `services stop`."""

import os
import signal
import sys
from pathlib import Path

from .layout import Layout
from .servers import Use


def hold(layout: Layout) -> None:
    held = Use(layout)
    layout.keeper_pid.write_text(str(os.getpid()))
    print("holding", flush=True)  # noqa: T201 - the parent reads this line
    signal.pause()
    held.close()


if __name__ == "__main__":
    hold(Layout(state=Path(sys.argv[1]), sockets=Path(sys.argv[2])))
