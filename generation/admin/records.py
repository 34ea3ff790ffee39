"""The record as plain lists. Operations live on the operator's pages."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from generation import words
from generation.commands import cancel_task, limits, pause, permissions, reset_circuit, restore
from generation.models import (
    Artifact,
    ArtifactFile,
    Command,
    Finding,
    ForceSet,
    JournalEntry,
    LayerConfig,
    StageConfig,
    SystemConfig,
    Target,
    Task,
)

from .actions import CommandAction
from .forms import QuotaForm, WhyForm
from .readonly import OperatedAdmin, ReadOnlyAdmin


def pausing(level: pause.Level, *, paused: bool) -> CommandAction:
    """Return the action that pauses or resumes the selected stages, or the system."""

    def requests(rows: QuerySet[Any], data: Any) -> list[tuple[str, pause.Request]]:
        why = data["why"] or ""
        if level == pause.Level.SYSTEM:
            return [("All stages", pause.Request(level, paused, why=why)) for _ in rows]
        return [(f"Stage {row.pk}", pause.Request(level, paused, stages=(row.pk,), why=why)) for row in rows]

    title = "Pause" if paused else "Resume"
    text = "Nothing new starts; what runs is finished." if paused else ""
    return CommandAction(title, "configure", requests, pause.plan, pause.apply, words.paused, form=WhyForm, text=text)


QUOTA = CommandAction(
    "Set quota",
    "quota",
    lambda rows, data: [(f"Stage {row.pk}", limits.QuotaRequest(row.pk, data["quota"])) for row in rows],
    limits.plan_quota,
    limits.apply_quota,
    words.limited,
    form=QuotaForm,
    text="In force from the next tick on. A lower quota ends nothing that runs.",
)
RESET_CIRCUIT = CommandAction(
    "Reset circuit",
    "quota",
    lambda rows, _: [(f"Stage {row.pk}", reset_circuit.Request(row.pk)) for row in rows],
    reset_circuit.plan,
    reset_circuit.apply,
    words.circuit_reset,
    text="A stage that was stopped after too many failures goes on with the next tick.",
)
CANCEL_TASK = CommandAction(
    "Cancel tasks",
    "stop",
    lambda tasks, _: [(f"{task}, task {task.pk}", cancel_task.Request(task.pk)) for task in tasks],
    cancel_task.plan,
    cancel_task.apply,
    words.taken_back,
    decline="Keep working",
)
RESTORE = CommandAction(
    "Restore version",
    "operate",
    lambda rows, _: [(f"{artifact.asset}, {artifact}", restore.Request(artifact.pk)) for artifact in rows],
    restore.plan,
    restore.apply,
    words.restored,
)


@admin.register(Artifact)
class ArtifactAdmin(OperatedAdmin):
    list_display = ("asset", "version", "dispatch_id", "content_version", "created_at")
    list_select_related = ("asset__scene__chapter",)
    actions = (RESTORE.as_action("restore"),)


@admin.register(ArtifactFile)
class ArtifactFileAdmin(ReadOnlyAdmin):
    list_display = ("name", "role", "content_type", "size", "width", "height")


@admin.register(LayerConfig)
class LayerConfigAdmin(ReadOnlyAdmin):
    list_display = ("book", "stage", "enabled", "cancelled_at", "cancelled_by", "paused_at", "last_dispatched_at")
    list_filter = ("stage", "enabled")
    list_select_related = ("book",)


@admin.register(StageConfig)
class StageConfigAdmin(OperatedAdmin):
    """The quota in force from the next tick on; a lower one kills nothing."""

    named_by_number = False
    list_display = ("stage", "quota", "paused_at", "paused_by", "paused_why")
    actions = (
        QUOTA.as_action("set_quota"),
        RESET_CIRCUIT.as_action("reset_circuit"),
        pausing(pause.Level.STAGE, paused=True).as_action("pause"),
        pausing(pause.Level.STAGE, paused=False).as_action("resume"),
    )

    def has_quota_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(permissions.QUOTAS)


@admin.register(SystemConfig)
class SystemConfigAdmin(OperatedAdmin):
    """The one row of what holds for all stages and books."""

    list_display = ("__str__", "paused_at", "paused_by", "paused_why")
    actions = (
        pausing(pause.Level.SYSTEM, paused=True).as_action("pause"),
        pausing(pause.Level.SYSTEM, paused=False).as_action("resume"),
    )


@admin.register(Command)
class CommandAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "kind", "book_key", "actor_name", "answer")
    list_filter = ("kind",)
    search_fields = ("book_key", "actor_name")


@admin.register(Task)
class TaskAdmin(OperatedAdmin):
    list_display = ("book", "stage", "status", "reason", "counts", "created_at", "closed_at")
    list_filter = ("status", "stage")
    list_select_related = ("book",)
    actions = (CANCEL_TASK.as_action("cancel_tasks"),)


@admin.register(Target)
class TargetAdmin(ReadOnlyAdmin):
    list_display = ("task", "asset", "intent", "status")
    list_filter = ("status",)
    list_select_related = ("task__book", "asset__scene__chapter")


@admin.register(ForceSet)
class ForceSetAdmin(ReadOnlyAdmin):
    list_display = ("command", "expires_at")
    list_select_related = ("command",)


@admin.register(Finding)
class FindingAdmin(ReadOnlyAdmin):
    list_display = ("kind", "subject", "detail", "first_seen_at", "last_seen_at", "fixed_at")
    list_filter = ("kind", ("fixed_at", admin.EmptyFieldListFilter))
    search_fields = ("subject", "detail")


@admin.register(JournalEntry)
class JournalEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "event", "book_key", "scene_pk", "stage", "change", "reason", "actor", "message")
    list_filter = ("event", "stage")
    search_fields = ("book_key", "reason", "dispatch_id")
