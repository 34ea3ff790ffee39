import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from animastor_site.embedded import servers
from animastor_site.embedded.errors import EmbeddedError
from animastor_site.embedded.layout import Layout, layout_for


class Command(BaseCommand):
    help = "Start, stop or show the embedded PostgreSQL and Valkey. DATABASE_URL and REDIS_URL switch their half off."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["start", "stop", "status"])
        parser.add_argument("--force", action="store_true", help="stop although other processes use the servers")
        parser.add_argument("--json", action="store_true", help="status as one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if not (settings.EMBEDDED_POSTGRES or settings.EMBEDDED_VALKEY):
            self.stdout.write("Nothing is embedded: DATABASE_URL and REDIS_URL are set.")
            return
        layout = layout_for(settings.EMBEDDED_STATE)
        try:
            if options["action"] == "start":
                self._start(layout)
            elif options["action"] == "stop":
                self._stop(layout, force=options["force"])
            else:
                self._status(layout, as_json=options["json"])
        except EmbeddedError as error:
            raise CommandError(str(error)) from error

    def _start(self, layout: Layout) -> None:
        hold = servers.use(layout, postgres_on=settings.EMBEDDED_POSTGRES, valkey_on=settings.EMBEDDED_VALKEY)
        servers.keep(layout)
        hold.close()
        self._status(layout, as_json=False)

    def _stop(self, layout: Layout, *, force: bool) -> None:
        had_keeper = servers.release_keeper(layout)
        if not force and servers.in_use(layout):
            self.stdout.write("Other processes still use the servers; they stop with the last of them (or --force).")
            return
        postgres_ran, valkey_ran = servers.stop(layout)
        stopped = had_keeper or postgres_ran or valkey_ran
        self.stdout.write("Stopped." if stopped else "Nothing was running.")

    def _status(self, layout: Layout, *, as_json: bool) -> None:
        status = servers.status(layout)
        if as_json:
            line = {"postgres": status.postgres_pid, "valkey": status.valkey_pid, "kept": status.kept}
            self.stdout.write(json.dumps(line))
            return
        for name, pid, where in (
            ("PostgreSQL", status.postgres_pid, layout.sockets),
            ("Valkey", status.valkey_pid, layout.valkey_socket),
        ):
            self.stdout.write(f"{name}: {f'running, pid {pid}, socket in {where}' if pid else 'not running'}")
        if status.kept:
            self.stdout.write("They run until `manage.py services stop`.")
