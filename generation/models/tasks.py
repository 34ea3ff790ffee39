from django.db import models
from django.db.models import Q

from generation.stages import StageName

from .assets import Asset
from .books import Book
from .commands import Command


class Task(models.Model):
    """One regenerate command for one stage of one book, from the command until every target is closed."""

    class Status(models.TextChoices):
        ACTIVE = "active", "Active"  # has open targets; the tick works on them
        BLOCKED = "blocked", "Blocked"  # cannot go on without the operator; starts nothing, stops nothing
        COMPLETED = "completed", "Completed"  # no open target left, none failed
        FAILED = "failed", "Failed"  # no open target left, some failed
        CANCELLED = "cancelled", "Cancelled"  # by an operator

    LIVE = (Status.ACTIVE, Status.BLOCKED)

    command = models.ForeignKey(Command, on_delete=models.CASCADE, related_name="tasks")
    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="tasks")
    stage = models.CharField(max_length=8, choices=StageName.choices)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    reason = models.CharField(max_length=60, blank=True)
    counts = models.JSONField(default=dict, help_text="targets by status, written when the task is closed")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["active", "blocked", "completed", "failed", "cancelled"]),
                name="task_status_known",
            )
        ]
        indexes = [
            models.Index(fields=["book", "stage"], name="task_live", condition=Q(status__in=["active", "blocked"]))
        ]

    def __str__(self) -> str:
        return f"{self.get_stage_display()} of {self.book}"


class Target(models.Model):
    """One asset of a task, with the intent that was asked for."""

    class Status(models.TextChoices):
        OPEN = "open", "Open"
        DONE = "done", "Done"  # published at this intent
        FAILED = "failed", "Failed"  # gave up
        CANCELLED = "cancelled", "Cancelled"  # by an operator
        SUPERSEDED = "superseded", "Superseded"  # a newer command asked again

    # Not checked by the database: 30 000 rows of one command name three tasks, which that command has just written, and
    # the assets it reads under the Book lock, which whoever deletes an asset holds as well.
    task = models.ForeignKey(
        Task, on_delete=models.CASCADE, related_name="targets", db_index=False, db_constraint=False
    )
    # Open ones are found by their constraint, the others by their task.
    asset = models.ForeignKey(
        Asset, on_delete=models.CASCADE, related_name="targets", db_index=False, db_constraint=False
    )
    intent = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    # The pair's one use of its command's force set.
    force_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["task", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["asset"], name="target_open_once_per_asset", condition=Q(status="open")),
            models.CheckConstraint(
                condition=Q(status__in=["open", "done", "failed", "cancelled", "superseded"]),
                name="target_status_known",
            ),
        ]
        indexes = [models.Index(fields=["task", "status"], name="target_of_task")]

    def __str__(self) -> str:
        return f"asset {self.asset_id} at {self.intent}"
