import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dispatch.config import config
from dispatch.hubs.base import HubUnavailable, LiveWorker, words_of
from dispatch.hubs.registry import hub_named
from generation import journal
from generation.stages import StageName

ACTOR = "manage.py"


class Command(BaseCommand):
    help = "List the workers that live, or tell some to finish what they do and stop."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--drain", nargs="+", metavar="NAME", help="these workers finish their job and stop")
        parser.add_argument("--drain-stage", choices=StageName.values, help="all workers of the stage do")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        hub = hub_named(config().hub)
        try:
            workers = hub.workers()
            wanted = self._wanted(workers, options)
            if wanted:
                hub.drain(wanted)
                workers = hub.workers()
        except HubUnavailable as error:
            raise CommandError(f"The hub cannot be asked: {error}") from error
        for name in wanted:
            journal.record("worker_drained", None, reason=name[:40], actor=ACTOR)
        self._show(workers, wanted, as_json=options["json"])

    def _wanted(self, workers: Sequence[LiveWorker], options: dict[str, Any]) -> list[str]:
        """Return the names to drain. Raises CommandError when one of them does not live: nothing is told to any."""
        names = list(options["drain"] or [])
        alive = {worker.name for worker in workers}
        unknown = sorted(set(names) - alive)
        if unknown:
            raise CommandError(
                f"No worker is called {', '.join(unknown)}. Workers are {', '.join(sorted(alive)) or 'none'}."
            )
        names += [worker.name for worker in workers if worker.stage == options["drain_stage"]]
        if options["drain_stage"] and not names:
            raise CommandError(f"No {options['drain_stage']} worker is running.")
        return sorted(set(names))

    def _show(self, workers: Sequence[LiveWorker], drained: list[str], *, as_json: bool) -> None:
        if as_json:
            told = [asdict(worker) for worker in workers]
            self.stdout.write(json.dumps({"workers": told, "drained": drained}))
            return
        for worker in workers:
            self.stdout.write(f"{worker.stage}  {words_of(worker)}")
        if not workers:
            self.stdout.write("No worker is running.")
        if drained:
            self.stdout.write(f"Told to finish and stop: {', '.join(drained)}. Each reads that within 15 s.")
