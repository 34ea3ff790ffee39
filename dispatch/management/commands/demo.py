import json
import os
import signal
import socket
import sys
import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Count

from animastor_site.embedded import servers
from animastor_site.embedded.errors import EmbeddedError
from animastor_site.embedded.layout import layout_for
from dispatch.config import config
from dispatch.demo import progress, setting_up
from dispatch.demo.processes import Processes, log_tail
from dispatch.hubs.base import HubUnavailable, ready
from dispatch.hubs.registry import hub_named
from dispatch.tick import run_tick
from generation import store
from generation.commands import regenerate
from generation.commands.answers import Actor
from generation.lifecycle import State
from generation.models import Asset, Book, Target, Task
from generation.stages import StageName

FIRST_PORT = 8000
PORTS = 100
CORES = max(1, min(4, os.cpu_count() or 1))
# Nine tenths of the work are video.
WORKERS = {StageName.AUDIO: max(1, CORES // 2), StageName.IMAGE: max(1, CORES // 2), StageName.VIDEO: CORES}
START_TIMEOUT_S = 60.0
POLL_S = 0.2
TELL_S = 2.0


class Command(BaseCommand):
    help = "Start everything on this machine with a sample book; Ctrl-C ends it. --once renders the sample and exits."
    # The tables these checks look at do not exist before the first start.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="no web: render the sample book, then exit")
        parser.add_argument("--json", action="store_true", help="with --once: print one line of JSON at the end")
        parser.add_argument("--port", type=int, default=FIRST_PORT, help="first port to try")

    def handle(self, *args: Any, **options: Any) -> None:
        # Both explicitly: a shell starts background jobs with SIGINT ignored.
        signal.signal(signal.SIGINT, _interrupt)
        signal.signal(signal.SIGTERM, _interrupt)
        began = time.monotonic()
        if not 0 < options["port"] <= 65535 - PORTS:
            raise CommandError(f"--port must be a number from 1 to {65535 - PORTS}.")
        try:
            hold = self._servers()
        except EmbeddedError as error:
            raise CommandError(str(error)) from error
        processes = Processes()
        try:
            setting_up.migrate()
            store.verify_identity()
            book = setting_up.ensure_sample()
            self._start_workers(processes)
            if options["once"]:
                self._once(book, began, as_json=options["json"], processes=processes)
            else:
                self._serve(processes, options["port"])
        except KeyboardInterrupt:
            self._say("Stopping. What is being rendered is given back and goes on at the next start.")
        finally:
            processes.stop()
            if hold is not None:
                hold.close()

    def _servers(self) -> servers.Use | None:
        if not (settings.EMBEDDED_POSTGRES or settings.EMBEDDED_VALKEY):
            return None
        layout = layout_for(settings.EMBEDDED_STATE)
        if servers.in_use(layout):
            self._say("PostgreSQL and Valkey are in use already: by another demo, or kept by `services start`.")
        else:
            self._say("Starting PostgreSQL and Valkey.")
        return servers.use(
            layout,
            postgres_on=settings.EMBEDDED_POSTGRES,
            valkey_on=settings.EMBEDDED_VALKEY,
        )

    def _start_workers(self, processes: Processes) -> None:
        """Start workers and wait until the hub counts them: a tick before that would find none and block."""
        self._say(f"Starting workers: {', '.join(f'{number} × {stage}' for stage, number in WORKERS.items())}.")
        for stage, workers in WORKERS.items():
            for number in range(1, workers + 1):
                processes.start(f"worker-{stage}-{number}", ["manage.py", "rqworker", f"gpu-{stage}"])
        processes.start("worker-assembly", ["manage.py", "rqworker", "assembly"])
        hub = hub_named(config().hub)
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            self._refuse_dead(processes)
            try:
                counts = ready(hub.workers())
            except HubUnavailable:
                counts = ready([])
            if all(counts[stage] >= number for stage, number in WORKERS.items()):
                return
            time.sleep(POLL_S)
        raise CommandError(f"The workers did not register within {START_TIMEOUT_S:.0f} s.")

    def _serve(self, processes: Processes, first_port: int) -> None:
        name, password = setting_up.ensure_operator()
        processes.start("tick", ["manage.py", "tick", "--loop"])
        port = _free_port(first_port)
        web = ["-m", "gunicorn", "animastor_site.wsgi", "--bind", f"127.0.0.1:{port}", "--threads", "4"]
        web.append("--no-control-socket")
        processes.start("web", web)
        _wait_for_port(port)
        self.stdout.write(f"\nAnimastor runs at http://127.0.0.1:{port}/\n  user      {name}\n  password  {password}\n")
        running = ", ".join(child.name for child in processes.children)
        self.stdout.write(f"Running: {running}. Each has its log in {settings.STATE_DIR / 'log'}.\n")
        self.stdout.write("What is made is told here. Ctrl-C ends it; the data stays.\n")
        self._tell_progress(processes)

    def _tell_progress(self, processes: Processes) -> None:
        """Print how far every book is whenever that changed, until somebody ends it."""
        told = progress.lines()
        asked = time.monotonic()
        while True:
            self._refuse_dead(processes)
            if time.monotonic() - asked > TELL_S:
                asked = time.monotonic()
                now = progress.lines()
                for pk, line in now.items():
                    if told.get(pk) != line:
                        self.stdout.write(f"{time.strftime('%H:%M:%S')} {line}")
                told |= now
            time.sleep(POLL_S)

    def _once(self, book: Book, began: float, *, as_json: bool, processes: Processes) -> None:
        stages = tuple(stage.value for stage in WORKERS)
        regenerate.apply(regenerate.Request(book.pk, stages), Actor("demo"))
        while Target.objects.filter(task__book=book, status=Target.Status.OPEN).exists():
            self._refuse_dead(processes)
            self._refuse_blocked(book)
            run_tick()
            self._say(progress.lines().get(book.pk, ""))
            time.sleep(POLL_S)
        counted = Asset.objects.filter(book=book, stage__in=stages).order_by().values_list("stage", "state")
        states: dict[str, dict[str, int]] = {stage: {} for stage in stages}
        for stage, state, number in counted.annotate(number=Count("pk")):
            states[stage][state] = number
        result = {
            "scenes": book.scenes.count(),
            "stages": states,
            "seconds": round(time.monotonic() - began, 1),
            "artifacts": str(settings.ARTIFACT_ROOT),
        }
        self.stdout.write(json.dumps(result) if as_json else f"Done: {result}")
        if any(set(of_stage) != {State.READY} for of_stage in states.values()):
            sys.exit(1)

    def _refuse_dead(self, processes: Processes) -> None:
        for child in processes.ended():
            if child.process.returncode == 0 and "rqworker" in child.arguments:
                # Drained, or ended in order: a supervisor starts it again.
                processes.replace(child)
                continue
            raise CommandError(f"{child.name} ended unexpectedly. The end of {child.log}:\n{log_tail(child.log)}")

    def _refuse_blocked(self, book: Book) -> None:
        blocked = Task.objects.filter(book=book, status=Task.Status.BLOCKED).first()
        if blocked is not None:
            raise CommandError(f"The task is blocked: {blocked.reason}.")

    def _say(self, text: str) -> None:
        self.stderr.write(text)


def _free_port(first: int) -> int:
    for port in range(first, first + PORTS):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise CommandError(f"No port is free between {first} and {first + PORTS - 1}.")


def _wait_for_port(port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(POLL_S)
    raise CommandError(f"The web server did not answer on port {port}.")


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt
