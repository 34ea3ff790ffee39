from django.db import models
from django.db.models import Q
from django.db.models.functions import Cast

from generation.lifecycle import State
from generation.querysets import AssetQuerySet
from generation.stages import StageName

from .books import Book, Scene


class TenMinutes(models.Func):
    """The number of the ten minutes an instant is in: waiting that long is worth one step of priority."""

    template = "floor(extract(epoch from %(expressions)s at time zone 'UTC') / 600)::integer"
    output_field = models.IntegerField()


class Asset(models.Model):
    """One scene × stage. What limits this one asset (deferral, retries) is a column, so that select can ask for it."""

    # The keys of book and scene are found by the indexes below; a row is written often, and every index costs then.
    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="assets", db_index=False)
    scene = models.ForeignKey(Scene, on_delete=models.CASCADE, related_name="assets", db_index=False)
    stage = models.CharField(max_length=8, choices=StageName.choices)
    position = models.PositiveIntegerField(help_text="reading order, copied from the scene")
    state = models.CharField(max_length=12, choices=State.choices, default=State.NEW)
    # Raised by every command that changes what should exist; fences everything older.
    intent = models.PositiveIntegerField(default=0)
    priority = models.PositiveIntegerField(default=0, help_text="higher is served first")
    # A retry, and what is queued again of the same command, keeps its place.
    pending_since = models.DateTimeField(null=True, help_text="when a command queued it")
    # A number that stands still: the queue is read along an index, however long it is.
    queue_rank = models.GeneratedField(
        expression=TenMinutes("pending_since") - Cast("priority", models.IntegerField()),
        output_field=models.IntegerField(),
        db_persist=True,
        help_text="lower is served first: the ten minutes in which it began to wait, minus its priority",
    )
    deferred_until = models.DateTimeField(null=True)
    deferral_reason = models.CharField(max_length=40, blank=True)
    retries_left = models.PositiveSmallIntegerField(default=0)
    # What the next attempt is a retry of; rate budgets count by it.
    retry_type = models.CharField(max_length=16, blank=True, help_text="type of the last failure of this intent")
    retry_worker = models.CharField(max_length=100, blank=True, help_text="the worker that failed it")
    # The same reason coming back twice defers, ten times fails.
    refusal_reason = models.CharField(max_length=40, blank=True)
    refusal_count = models.PositiveSmallIntegerField(default=0)
    failure_reason = models.CharField(max_length=40, blank=True)
    failure_message = models.CharField(max_length=500, blank=True)
    # Versions that the active dispatch is made from; 0 without one.
    making_content_version = models.PositiveIntegerField(default=0)
    making_audio_config_version = models.PositiveIntegerField(default=0)
    # What its worker told last; zero while nothing runs.
    progress_percent = models.PositiveSmallIntegerField(default=0)
    parts_done = models.PositiveIntegerField(default=0)
    parts_total = models.PositiveIntegerField(default=0, help_text="more than 1 when it is made in parts")
    # DO_NOTHING: artifact and asset go in one transaction, at whose end PostgreSQL checks; an artifact alone cannot.
    published = models.ForeignKey(
        "generation.Artifact", on_delete=models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    # File shown while the state is placeholder. Never published: a stand-in cannot be taken for a result.
    stand_in = models.CharField(max_length=200, blank=True, help_text="name in the artifact storage")
    changed_at = models.DateTimeField(auto_now_add=True)

    objects = AssetQuerySet.as_manager()

    class Meta:
        ordering = ["book", "position", "stage"]
        constraints = [
            models.UniqueConstraint(fields=["scene", "stage"], name="asset_once_per_scene_and_stage"),
            models.CheckConstraint(condition=Q(state__in=State.values), name="asset_state_known"),
            models.CheckConstraint(condition=Q(stage__in=StageName.values), name="asset_stage_known"),
            models.CheckConstraint(
                condition=~Q(state=State.READY) | Q(published__isnull=False), name="asset_ready_has_artifact"
            ),
            models.CheckConstraint(
                condition=~Q(state=State.PLACEHOLDER) | ~Q(stand_in=""), name="asset_placeholder_has_stand_in"
            ),
        ]
        indexes = [
            models.Index(
                fields=["stage", "book", "queue_rank", "position"],
                include=["deferred_until"],
                name="asset_select",
                condition=Q(state=State.PENDING),
            ),
            models.Index(fields=["book", "stage", "state"], name="asset_progress"),
            models.Index(fields=["published"], name="asset_published", condition=Q(published__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.scene} · {self.stage}"
