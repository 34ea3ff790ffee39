"""Real processes of ours against this test process's own database, Valkey database and artifact folder."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection

PROJECT = Path(__file__).resolve().parent.parent


def environment() -> dict[str, str]:
    """Return variables that point a child at what this test uses."""
    database = connection.settings_dict
    address = f"postgres://{database['USER']}@{quote(database['HOST'], safe='')}/{database['NAME']}"
    return {
        **os.environ,
        "DATABASE_URL": address,
        "REDIS_URL": settings.REDIS_URL,
        "SECRET_KEY": "only-for-this-test",
        "ARTIFACT_ROOT": str(settings.ARTIFACT_ROOT),
        "PYTHONPATH": str(PROJECT),
    }


@contextmanager
def running(arguments: Sequence[str], **options: object) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `python <arguments>` and kill it at the end, whatever happened."""
    process = subprocess.Popen([sys.executable, *arguments], cwd=PROJECT, env=environment(), **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def worker(queue: str = "gpu-image") -> "contextmanager[subprocess.Popen[bytes]]":
    return running(["manage.py", "rqworker", queue], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
