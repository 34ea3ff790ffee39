"""The demonstration is the supervisor of its workers."""

import pytest
from django.core.management import CommandError

from dispatch.demo.processes import Processes
from dispatch.management.commands.demo import Command


@pytest.fixture
def processes(settings, tmp_path):
    settings.STATE_DIR = tmp_path
    processes = Processes()
    yield processes
    processes.stop()


def test_a_worker_that_ended_in_order_is_started_again(processes):
    drained = processes.start("worker-image-1", ["-c", "pass", "rqworker"])
    drained.process.wait()
    Command()._refuse_dead(processes)
    (child,) = processes.children
    assert (child.name, child.arguments) == (drained.name, drained.arguments)
    assert child.process.pid != drained.process.pid


@pytest.mark.parametrize("arguments", [["-c", "raise SystemExit(1)", "rqworker"], ["-c", "pass", "tick"]])
def test_whatever_else_ends_ends_the_demonstration_and_says_which(arguments, processes):
    processes.start("it", arguments).process.wait()
    with pytest.raises(CommandError, match="it ended unexpectedly"):
        Command()._refuse_dead(processes)
