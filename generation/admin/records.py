"""The record as plain lists. Operations live on the operator's pages."""

from typing import Any

from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from generation.models import (
    Artifact,
    ArtifactFile,
    Asset,
    Chapter,
    Command,
    ForceSet,
    JournalEntry,
    LayerConfig,
    Scene,
    StageConfig,
    Target,
    Task,
)
from generation.stages import StageName

from .readonly import ReadOnlyAdmin


@admin.register(Chapter)
class ChapterAdmin(ReadOnlyAdmin):
    list_display = ("book", "number", "title")
    list_select_related = ("book",)
    search_fields = ("title", "book__title")


@admin.register(Scene)
class SceneAdmin(ReadOnlyAdmin):
    list_display = ("book", "position", "chapter", "number", "opening")
    list_select_related = ("book", "chapter")
    search_fields = ("text", "book__title")

    @admin.display(description="begins")
    def opening(self, scene: Scene) -> str:
        return scene.text[:80]


@admin.register(Asset)
class AssetAdmin(ReadOnlyAdmin):
    list_display = ("scene", "stage", "state", "picture", "deferral_reason", "failure_reason", "changed_at")
    list_filter = ("stage", "state", "book")
    list_select_related = ("scene__chapter", "scene__book")
    search_fields = ("scene__text", "book__title")
    readonly_fields = ("picture",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        main = ArtifactFile.objects.filter(role=ArtifactFile.MAIN)
        files = Prefetch("published__files", queryset=main, to_attr="main_files")
        return super().get_queryset(request).select_related("published").prefetch_related(files)

    @admin.display(description="published")
    def picture(self, asset: Asset) -> SafeString | str:
        files = getattr(asset.published, "main_files", []) if asset.published else []
        if not files:
            return "–"
        address = reverse("artifact-file", args=[files[0].pk])
        if asset.stage != StageName.IMAGE:
            return format_html('<a href="{}">Open</a>', address)
        label = f"Picture of {asset.scene}"
        return format_html(
            '<a href="{}"><img src="{}" alt="{}" width="160" height="90" loading="lazy"></a>', address, address, label
        )


@admin.register(Artifact)
class ArtifactAdmin(ReadOnlyAdmin):
    list_display = ("asset", "version", "dispatch_id", "content_version", "created_at")
    list_select_related = ("asset__scene__chapter",)


@admin.register(ArtifactFile)
class ArtifactFileAdmin(ReadOnlyAdmin):
    list_display = ("name", "role", "content_type", "size", "width", "height")


@admin.register(LayerConfig)
class LayerConfigAdmin(ReadOnlyAdmin):
    list_display = ("book", "stage", "enabled", "cancelled_at", "cancelled_by", "paused_at", "last_dispatched_at")
    list_filter = ("stage", "enabled")
    list_select_related = ("book",)


@admin.register(StageConfig)
class StageConfigAdmin(admin.ModelAdmin[StageConfig]):
    """The quota in force from the next tick on; a lower one kills nothing."""

    list_display = ("stage", "quota", "paused_at", "paused_by")
    fields = ("stage", "quota")


@admin.register(Command)
class CommandAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "kind", "book_key", "actor_name", "answer")
    list_filter = ("kind",)
    search_fields = ("book_key", "actor_name")


@admin.register(Task)
class TaskAdmin(ReadOnlyAdmin):
    list_display = ("book", "stage", "status", "reason", "counts", "created_at", "closed_at")
    list_filter = ("status", "stage")
    list_select_related = ("book",)


@admin.register(Target)
class TargetAdmin(ReadOnlyAdmin):
    list_display = ("task", "asset", "intent", "status")
    list_filter = ("status",)
    list_select_related = ("task__book", "asset__scene__chapter")


@admin.register(ForceSet)
class ForceSetAdmin(ReadOnlyAdmin):
    list_display = ("command", "expires_at")
    list_select_related = ("command",)


@admin.register(JournalEntry)
class JournalEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "event", "book_key", "scene_pk", "stage", "change", "reason", "actor", "message")
    list_filter = ("event", "stage")
    search_fields = ("book_key", "reason", "dispatch_id")
