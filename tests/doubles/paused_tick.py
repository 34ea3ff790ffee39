"""Run as a process of its own: a tick that stops itself (SIGSTOP) at the boundary in argv.

When it is continued it goes on as an old owner would, and prints how many jobs it handed to the hub after that.
"""

import os
import signal
import sys
from datetime import timedelta

import django

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "animastor_site.settings"
    django.setup()

    from django.conf import settings

    from dispatch.tick import run_tick
    from dispatch.tick.boundaries import Boundary, reached
    from tests.doubles.hub import FakeHub

    settings.ANIMASTOR = {"tick_lease": timedelta(seconds=1), "tick_interval": timedelta(milliseconds=200)}
    hub = FakeHub()

    def stop_there(boundary: Boundary, **_: object) -> None:
        if boundary == sys.argv[1]:
            hub.submissions.clear()
            os.kill(os.getpid(), signal.SIGSTOP)

    reached.connect(stop_there)
    try:
        outcome = "lost" if run_tick(hub) is None else "finished"
    except django.db.DatabaseError:
        outcome = "lost"
    sys.stdout.write(f"{outcome} {len(hub.submissions)}\n")
