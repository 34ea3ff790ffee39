import json
import logging
import signal
import time
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error as DatabaseAway
from django.db import close_old_connections

from dispatch.config import config
from dispatch.explain import explain
from dispatch.models import TickLease, TickRing
from dispatch.reconcile import reconcile_if_due
from dispatch.tick import run_tick
from dispatch.tick.lease import LostTick
from dispatch.tick.report import Report
from generation import store
from generation.exceptions import GenerationError
from generation.lifecycle import State
from generation.management.commanding import book_called
from generation.models import Asset
from generation.stages import StageName

logger = logging.getLogger(__name__)

POLL_S = 0.25
# Assets named in one line of the log.
ASSETS_TOLD = 3


class Command(BaseCommand):
    help = "Run one tick, or with --loop one every interval and at every ring."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--loop", action="store_true", help="go on until interrupted")
        parser.add_argument("--json", action="store_true", help="print each report as one line of JSON")
        parser.add_argument("--explain", metavar="BOOK", help="run none, but say why assets of this book do not run")
        parser.add_argument("--scene", type=int, help="with --explain: only the scene at this place in the book")
        parser.add_argument("--stage", choices=StageName.values, help="with --explain: only this stage")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["explain"]:
            self._explain(options)
            return
        if options["scene"] is not None or options["stage"]:
            raise CommandError("--scene and --stage go with --explain.")
        store.verify_identity()
        if options["loop"]:
            self._loop(as_json=options["json"])
            return
        report = run_tick()
        if report is None:
            raise CommandError("Another process is running the tick.")
        self._show(report, as_json=options["json"])

    def _explain(self, options: dict[str, Any]) -> None:
        try:
            book = book_called(options["explain"])
        except GenerationError as error:
            raise CommandError(f"{error} ({error.code})") from error
        assets = Asset.objects.filter(book=book).select_related("scene__chapter").order_by("position", "stage")
        if options["scene"] is not None:
            assets = assets.filter(position=options["scene"])
        if options["stage"]:
            assets = assets.filter(stage=options["stage"])
        if not assets.exists():
            raise CommandError(f"There is no such scene in {book.title}.")
        shown = assets.exclude(state=State.READY) if options["scene"] is None else assets
        if not options["json"] and not shown.exists():
            self.stdout.write("Everything of it is ready.")
        for asset in shown:
            reasons = explain(asset)
            if options["json"]:
                told = {"asset": asset.pk, "scene": asset.position, "stage": asset.stage, "state": asset.state}
                self.stdout.write(json.dumps({**told, "reasons": [reason.as_json() for reason in reasons]}))
            else:
                said = " ".join(f"{reason.words} {reason.remedy}".strip() for reason in reasons) or "Nothing holds it."
                self.stdout.write(f"{asset.position} {asset.stage} {asset.state}: {said}")

    def _loop(self, *, as_json: bool) -> None:
        signal.signal(signal.SIGINT, _interrupt)
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            while True:
                self._one(as_json=as_json)
                self._wait()
        except KeyboardInterrupt:
            return

    def _one(self, *, as_json: bool) -> None:
        """Whatever a tick meets costs this tick, not the loop."""
        try:
            report = run_tick()
            reconcile_if_due()
        except DatabaseAway as error:
            self.stderr.write(f"tick failed: {error}")
            close_old_connections()
            return
        except LostTick:
            logger.warning("another process took the tick over")
            return
        except Exception:
            logger.exception("the tick failed")
            return
        if report is not None and (as_json or report.dispatched or report.errors):
            self._show(report, as_json=as_json)

    def _wait(self) -> None:
        until = time.monotonic() + config().tick_interval.total_seconds()
        while time.monotonic() < until:
            time.sleep(POLL_S)
            if _rung():
                return

    def _show(self, report: Report, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(report.as_json()))
            return
        numbers = report.as_json()
        errors = numbers.pop("errors")
        self.stdout.write("  ".join(f"{name} {number}" for name, number in numbers.items()))
        for line in _told(errors):
            self.stdout.write(f"  {line}")


def _told(errors: Iterable[dict[str, Any]]) -> list[str]:
    """Return a line per reason and message: a stage that stands still is one line, not one per asset and tick."""
    assets: dict[tuple[str, str], list[int]] = {}
    for error in errors:
        of_reason = assets.setdefault((error["reason"], error["message"]), [])
        of_reason += [error["asset"]] if error["asset"] is not None else []
    return [_line(reason, message, pks) for (reason, message), pks in assets.items()]


def _line(reason: str, message: str, pks: list[int]) -> str:
    named = ", ".join(map(str, pks[:ASSETS_TOLD])) + (
        f" and {len(pks) - ASSETS_TOLD} more" if len(pks) > ASSETS_TOLD else ""
    )
    return "  ".join(filter(None, (reason, f"asset {named}" if pks else "", message)))


def _rung() -> bool:
    try:
        rung_at = TickRing.objects.values_list("rung_at", flat=True).first()
        started_at = TickLease.objects.values_list("started_at", flat=True).first()
    except DatabaseAway:
        close_old_connections()
        return False
    return rung_at is not None and (started_at is None or rung_at > started_at)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt
