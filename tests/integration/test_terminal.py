"""What a terminal does to `manage.py`."""

import os
import subprocess
import sys

import pytest

from tests.processes import PROJECT, environment


def manage(*arguments, **options):
    # Without it Python keeps what is written until the end, as it does for users.
    buffered = {name: value for name, value in environment().items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=PROJECT, env=buffered, stderr=subprocess.PIPE, **options
    )


@pytest.mark.parametrize("arguments", [["help"], ["check", "--help"], ["check", "--list-tags"]])
def test_a_reader_that_has_gone_ends_a_command_without_a_traceback(arguments):
    """As `| head` does; also where argparse ends the command."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        ended = manage(*arguments, stdout=write_end)
    finally:
        os.close(write_end)
    assert (ended.returncode, ended.stderr) == (1, b"")


def test_a_command_that_says_nothing_needs_no_output():
    ended = manage("shell", "--no-imports", "-c", "pass", preexec_fn=lambda: os.close(1))
    assert (ended.returncode, ended.stderr) == (0, b"")
