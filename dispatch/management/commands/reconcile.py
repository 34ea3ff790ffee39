import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dispatch.reconcile import CHECKS, reconcile
from dispatch.tick.lease import LostTick
from generation.exceptions import GenerationError
from generation.management.commanding import book_called


class Command(BaseCommand):
    help = "Compare the record with the files and the hub, and put right what differs. Starts nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--book", help="only this book: its key, or its id")
        parser.add_argument("--dry-run", action="store_true", help="say what is wrong, and change nothing")
        parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            book = book_called(options["book"]) if options["book"] else None
            report = reconcile(book.pk if book else None, dry_run=options["dry_run"])
        except GenerationError as error:
            raise CommandError(f"{error} ({error.code})") from error
        except LostTick:
            raise CommandError("A tick took over meanwhile. Try again.") from None
        if report is None:
            raise CommandError("A tick is running all the time. Try again.")
        if options["json"]:
            self.stdout.write(json.dumps(report.as_json(), ensure_ascii=False))
        else:
            self._show(report)
        if report.incomplete:
            raise CommandError(f"Not everything could be read: {', '.join(report.incomplete)}.")

    def _show(self, report: Any) -> None:
        for check in CHECKS:
            number = report.found.get(check.kind, 0)
            if number:
                done = "" if report.dry_run else f" {report.fixed.get(check.kind, 0)} put right."
                self.stdout.write(f"{check.kind}: {number}. {check.words} {check.fix_words}{done}")
        for one in report.findings:
            self.stdout.write(f"  {one.subject}: {one.detail}")
        for kind, why in report.incomplete.items():
            self.stdout.write(f"{kind}: pass_incomplete: {why}")
        if not report.findings and not report.incomplete:
            self.stdout.write("Record, files and hub agree.")
