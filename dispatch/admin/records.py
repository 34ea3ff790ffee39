from typing import assert_never

from django.contrib import admin

from dispatch.capacity.snapshot import CapacityUnavailable, Circuit, read_stage
from dispatch.config import config
from dispatch.hubs.base import HubUnavailable, words_of
from dispatch.hubs.registry import hub_named
from dispatch.models import Dispatch, Job, Part, ReconcileState, StageWorkers, TickLease, TickReport, TickRing
from generation.admin.readonly import ReadOnlyAdmin


@admin.register(Dispatch)
class DispatchAdmin(ReadOnlyAdmin):
    list_display = ("dispatch_id", "book_key", "scene_pk", "stage", "status", "reason", "created_at", "ended_at")
    list_filter = ("status", "stage")
    search_fields = ("dispatch_id", "book_key")


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ("job_id", "dispatch", "status", "sends", "sent_at", "running_at")
    list_filter = ("status",)
    list_select_related = ("dispatch",)
    search_fields = ("job_id", "dispatch__dispatch_id")


@admin.register(Part)
class PartAdmin(ReadOnlyAdmin):
    list_display = ("asset", "unit", "created_at")
    list_select_related = ("asset__scene__chapter",)


@admin.register(StageWorkers)
class StageWorkersAdmin(ReadOnlyAdmin):
    list_display = ("stage", "count", "draining", "now", "circuit", "seen_at", "absent_since", "read_at")

    @admin.display(description="workers now")
    def now(self, row: StageWorkers) -> str:
        """Name each worker and what it does; the numbers are what the tick read last."""
        try:
            workers = [worker for worker in hub_named(config().hub).workers() if worker.stage == row.stage]
        except HubUnavailable:
            return "the hub cannot be asked"
        return ", ".join(words_of(worker) for worker in workers) or "–"

    @admin.display
    def circuit(self, row: StageWorkers) -> str:
        try:
            standing = read_stage(row.stage)
        except CapacityUnavailable:
            return "Redis cannot be asked"
        match standing.circuit:
            case Circuit.CLOSED:
                return f"closed, {standing.failures} failures lately" if standing.failures else "closed"
            case Circuit.OPEN:
                return f"open for {standing.open_for_s:.0f} s, next test in {standing.next_test_s:.0f} s"
            case Circuit.HALF_OPEN:
                return f"open for {standing.open_for_s:.0f} s, {standing.tests} tests running"
            case _:
                assert_never(standing.circuit)


@admin.register(TickLease)
class TickLeaseAdmin(ReadOnlyAdmin):
    list_display = ("fence", "owner", "started_at", "expires_at")


@admin.register(ReconcileState)
class ReconcileStateAdmin(ReadOnlyAdmin):
    list_display = ("passed_at", "file_pk", "folder")


@admin.register(TickRing)
class TickRingAdmin(ReadOnlyAdmin):
    list_display = ("rung_at",)


@admin.register(TickReport)
class TickReportAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "fence", "summary")

    @admin.display(description="report")
    def summary(self, report: TickReport) -> str:
        return ", ".join(f"{name} {value}" for name, value in report.report.items() if value not in (0, []))
