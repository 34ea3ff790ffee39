"""What a terminal does to `manage.py`."""

import os
import subprocess
import sys

from tests.processes import PROJECT, environment


def test_a_reader_that_has_gone_ends_a_command_without_a_traceback():
    """As `| head` does, before the first line or after it."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        ended = subprocess.run(
            [sys.executable, "manage.py", "help"],
            cwd=PROJECT,
            env=environment(),
            stdout=write_end,
            stderr=subprocess.PIPE,
        )
    finally:
        os.close(write_end)
    assert (ended.returncode, ended.stderr) == (1, b"")
