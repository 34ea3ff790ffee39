from django.contrib import admin

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
    list_display = ("stage", "count", "seen_at", "absent_since", "read_at")


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
