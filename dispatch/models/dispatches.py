from django.db import models
from django.db.models import Q

from generation.models import Asset, Book
from generation.stages import StageName


class Dispatch(models.Model):
    """One hand-over of an asset to the hub, with its inputs frozen.

    Identity is also kept as plain numbers: a delete takes the asset away, never the handle to clear the hub with.
    """

    class Status(models.TextChoices):
        ACTIVE = "active", "Active"  # its jobs are reserved or at the hub
        SUCCEEDED = "succeeded", "Succeeded"  # its result was published
        FAILED = "failed", "Failed"  # its result is an error
        CANCELLED = "cancelled", "Cancelled"  # it ended without a result that counts

    dispatch_id = models.CharField(max_length=32, unique=True)
    asset = models.ForeignKey(Asset, on_delete=models.SET_NULL, null=True, related_name="dispatches")
    book = models.ForeignKey(Book, on_delete=models.SET_NULL, null=True, related_name="dispatches")
    book_key = models.CharField(max_length=200)
    book_pk = models.BigIntegerField()
    chapter_pk = models.BigIntegerField()
    scene_pk = models.BigIntegerField()
    asset_pk = models.BigIntegerField()
    stage = models.CharField(max_length=8, choices=StageName.choices)
    build_id = models.UUIDField()
    hub = models.CharField(max_length=16)
    intent = models.PositiveIntegerField()
    content_version = models.PositiveIntegerField()
    audio_config_version = models.PositiveIntegerField()
    inputs = models.JSONField(default=dict, help_text="artifacts of other stages it is made from, by stage")
    units = models.JSONField(
        default=list, help_text="[[unit, fingerprint of its inputs], …] in order; parts are joined when all are there"
    )
    # Set once, when the last part came: a job on the queue assembly joins them from then on.
    assembling_at = models.DateTimeField(null=True)
    assembly_attempts = models.PositiveSmallIntegerField(default=0, help_text="how often a worker began to join them")
    workflow_version = models.CharField(max_length=40)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    reason = models.CharField(max_length=40, blank=True)
    message = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    progress_at = models.DateTimeField(null=True, help_text="last time a part was finished or a percentage rose")
    ended_at = models.DateTimeField(null=True)
    release_due = models.BooleanField(default=False, help_text="it ended, and its lease and circuit were not told yet")

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "dispatches"
        constraints = [
            models.UniqueConstraint(
                fields=["asset"], name="dispatch_active_once_per_asset", condition=Q(status="active")
            ),
            models.CheckConstraint(
                condition=Q(status__in=["active", "succeeded", "failed", "cancelled"]), name="dispatch_status_known"
            ),
        ]
        indexes = [
            models.Index(fields=["stage"], name="dispatch_active", condition=Q(status="active")),
            models.Index(fields=["ended_at"], name="dispatch_age"),
            models.Index(fields=["ended_at"], name="dispatch_release", condition=Q(release_due=True)),
        ]

    def __str__(self) -> str:
        return self.dispatch_id
