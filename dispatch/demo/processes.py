"""The processes of a demonstration, started together and ended together."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil
from django.conf import settings

from animastor_site.embedded.children import die_with_parent

# A worker finishes the picture it is drawing; a video would take too long.
PATIENCE_S = 5.0
POLL_S = 0.1


@dataclass(frozen=True)
class Child:
    name: str
    process: subprocess.Popen[bytes]
    log: Path
    arguments: tuple[str, ...]


class Processes:
    """A group of children. They ignore our terminal's Ctrl-C and end with us, however we end."""

    def __init__(self) -> None:
        self.children: list[Child] = []

    def start(self, name: str, arguments: Sequence[str]) -> Child:
        """Start `python <arguments>` with its output in a log of its own."""
        logs = settings.STATE_DIR / "log"
        logs.mkdir(parents=True, exist_ok=True)
        path = logs / f"{name}.log"
        with path.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=settings.BASE_DIR,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        child = Child(name, process, path, tuple(arguments))
        self.children.append(child)
        return child

    def ended(self) -> list[Child]:
        return [child for child in self.children if child.process.poll() is not None]

    def replace(self, child: Child) -> None:
        """Start the same again in place of one that ended."""
        self.children.remove(child)
        self.start(child.name, child.arguments)

    def stop(self) -> None:
        """Ask all to end, wait, then kill: first what workers render, so that they can say so and give it back."""
        for child in reversed(self.children):
            if child.process.poll() is None:
                child.process.terminate()
        self._wait()
        for child in self.children:
            if child.process.poll() is None:
                _kill_children(child.process.pid)
        self._wait()
        for child in self.children:
            if child.process.poll() is None:
                os.killpg(child.process.pid, signal.SIGKILL)
            child.process.wait()
        self.children.clear()

    def _wait(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and len(self.ended()) < len(self.children):
            time.sleep(POLL_S)


def _kill_children(pid: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        for horse in psutil.Process(pid).children():
            horse.kill()


def log_tail(path: Path, lines: int = 15) -> str:
    file: IO[str]
    with path.open(encoding="utf-8", errors="replace") as file:
        return "".join(file.readlines()[-lines:])
