"""What rows look like."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from generation.models import Artifact, ArtifactFile, Asset, Book, Chapter, ImageUnit, Scene, Task


class BookSerializer(serializers.ModelSerializer[Book]):
    cover = serializers.SerializerMethodField(help_text="address of the picture, or null")

    class Meta:
        model = Book
        fields = ("id", "key", "title", "author", "language", "cover", "revision", "created_at")

    def get_cover(self, book: Book) -> str | None:
        return reverse("book-cover", args=[book.pk]) if book.cover else None


class FileSerializer(serializers.ModelSerializer[ArtifactFile]):
    url = serializers.SerializerMethodField(help_text="address; takes ranges, and ?download")

    class Meta:
        model = ArtifactFile
        fields = ("role", "url", "content_type", "size", "sha256", "width", "height", "duration_ms")

    def get_url(self, file: ArtifactFile) -> str:
        return reverse("artifact-file", args=[file.pk])


class ArtifactSerializer(serializers.ModelSerializer[Artifact]):
    book = serializers.IntegerField(source="asset.book_id")
    scene = serializers.IntegerField(source="asset.scene_id")
    stage = serializers.CharField(source="asset.stage")
    is_published = serializers.SerializerMethodField()
    files = FileSerializer(many=True)

    class Meta:
        model = Artifact
        fields = ("id", "book", "scene", "stage", "version", "is_published", "created_at", "files")

    def get_is_published(self, artifact: Artifact) -> bool:
        return artifact.asset.published_id == artifact.pk


class AssetSerializer(serializers.ModelSerializer[Asset]):
    files = serializers.SerializerMethodField(help_text="of the published version, for those who may see artifacts")

    class Meta:
        model = Asset
        fields = (
            "id",
            "stage",
            "state",
            "intent",
            "priority",
            "progress_percent",
            "parts_done",
            "parts_total",
            "retries_left",
            "deferred_until",
            "deferral_reason",
            "failure_reason",
            "failure_message",
            "published",
            "files",
            "changed_at",
        )

    @extend_schema_field(FileSerializer(many=True))
    def get_files(self, asset: Asset) -> list[Mapping[str, Any]]:
        request = self.context.get("request")
        if asset.published is None or request is None or not request.user.has_perm("generation.view_artifact"):
            return []
        return list(FileSerializer(asset.published.files.all(), many=True).data)


class ChapterSerializer(serializers.ModelSerializer[Chapter]):
    class Meta:
        model = Chapter
        fields = ("id", "key", "number", "title")


class ImageUnitSerializer(serializers.ModelSerializer[ImageUnit]):
    class Meta:
        model = ImageUnit
        fields = ("number", "key", "prompt")


class SceneSerializer(serializers.ModelSerializer[Scene]):
    chapter = ChapterSerializer()
    images = ImageUnitSerializer(source="image_units", many=True)
    assets = AssetSerializer(many=True)

    class Meta:
        model = Scene
        fields = (
            "id",
            "book",
            "chapter",
            "number",
            "position",
            "key",
            "title",
            "text",
            "voice",
            "speed_percent",
            "content_version",
            "audio_config_version",
            "images",
            "assets",
        )


class TaskSerializer(serializers.ModelSerializer[Task]):
    """`counts` are the targets by status, of a live task as they are now."""

    counts = serializers.SerializerMethodField()
    command = serializers.CharField(source="command.kind")
    actor = serializers.CharField(source="command.actor_name")

    class Meta:
        model = Task
        fields = ("id", "book", "stage", "status", "reason", "counts", "command", "actor", "created_at", "closed_at")

    def get_counts(self, task: Task) -> dict[str, int]:
        counts: Mapping[int, dict[str, int]] = self.context.get("counts", {})
        return counts.get(task.pk) or task.counts


class LayerSerializer(serializers.Serializer[Any]):
    stage = serializers.CharField()
    enabled = serializers.BooleanField()
    job_timeout_min = serializers.IntegerField(allow_null=True, help_text="null: the number of the stage")
    cancelled_at = serializers.DateTimeField(allow_null=True, help_text="stopped; until the next command")
    cancelled_by = serializers.CharField()
    paused_at = serializers.DateTimeField(allow_null=True)
    paused_by = serializers.CharField()
    paused_why = serializers.CharField()


class ProgressSerializer(serializers.Serializer[Any]):
    book = serializers.IntegerField()
    revision = serializers.IntegerField()
    stages = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()), help_text="assets by state, zeros included"
    )
    unmade = serializers.DictField(child=serializers.IntegerField(), help_text="dirty ones that have no file, by stage")
    paused = serializers.ListField(child=serializers.CharField(), help_text="what holds the book back, in words")
