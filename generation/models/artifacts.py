import uuid

from django.db import models


class Artifact(models.Model):
    """One finished result of an asset. The asset's `published` pointer is the publication, not the files."""

    asset = models.ForeignKey("generation.Asset", on_delete=models.CASCADE, related_name="artifacts")
    version = models.PositiveIntegerField(help_text="counts up within the asset")
    dispatch_id = models.CharField(max_length=32)
    content_version = models.PositiveIntegerField()
    audio_config_version = models.PositiveIntegerField()
    # Artifacts of other stages it was made from, by stage name.
    inputs = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["asset", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["asset", "version"], name="artifact_version_once"),
            models.UniqueConstraint(fields=["dispatch_id"], name="artifact_once_per_dispatch"),
        ]

    def __str__(self) -> str:
        return f"version {self.version}"


class ArtifactFile(models.Model):
    """One file of an artifact; `role` main is what is shown (a picture's `card` carries letters, its main none)."""

    MAIN = "main"

    artifact = models.ForeignKey(Artifact, on_delete=models.CASCADE, related_name="files")
    role = models.CharField(max_length=16)
    name = models.CharField(max_length=200, unique=True, help_text="name in the artifact storage, never reused")
    content_type = models.CharField(max_length=40)
    size = models.PositiveBigIntegerField(help_text="bytes")
    sha256 = models.CharField(max_length=64)
    width = models.PositiveIntegerField(null=True)
    height = models.PositiveIntegerField(null=True)
    duration_ms = models.PositiveIntegerField(null=True, help_text="length of a sound or film")

    class Meta:
        ordering = ["artifact", "role"]
        constraints = [models.UniqueConstraint(fields=["artifact", "role"], name="artifact_role_once")]

    def __str__(self) -> str:
        return self.name


class StoreIdentity(models.Model):
    """The single row that names the artifact storage this database belongs to."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    token = models.UUIDField(default=uuid.uuid4, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="store_identity_single")]

    def __str__(self) -> str:
        return str(self.token)
