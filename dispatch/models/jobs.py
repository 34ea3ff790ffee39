from collections.abc import Iterable
from typing import Any

from django.db import models
from django.db.models import Q

from .dispatches import Dispatch


class JobQuerySet(models.QuerySet["Job"]):
    def move(self, source: "Job.Status | Iterable[Job.Status]", target: "Job.Status", **values: Any) -> int:
        """Move the jobs that are in `source` to `target` and set `values`; return how many were.

        Raises ValueError when EDGES has no step from a source to the target, whatever rows exist.
        """
        sources = [source] if isinstance(source, Job.Status) else list(source)
        wrong = next((state for state in sources if target not in EDGES[state]), None)
        if wrong is not None:
            raise ValueError(f"a job does not go from {wrong} to {target}")
        return self.filter(status__in=sources).update(status=target, **values)


class Job(models.Model):
    """One unit of a dispatch as sent to the hub. The envelope is frozen: workers render it, never the tables."""

    class Status(models.TextChoices):
        RESERVED = "reserved", "Reserved"  # written by prepare; submit sends it until there is a receipt
        SENT = "sent", "Sent"  # the hub has it
        DONE = "done", "Done"  # its result was accepted
        FAILED = "failed", "Failed"  # its error was accepted
        STOPPING = "stopping", "Stopping"  # its dispatch ended; the hub has not confirmed the clear
        DROPPED = "dropped", "Dropped"  # the hub holds it no more

    AT_HUB = (Status.RESERVED, Status.SENT)

    dispatch = models.ForeignKey(Dispatch, on_delete=models.CASCADE, related_name="jobs")
    asset_pk = models.BigIntegerField()
    unit = models.CharField(max_length=40)
    order = models.PositiveIntegerField()
    job_id = models.CharField(max_length=120)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.RESERVED)
    envelope = models.JSONField()
    digest = models.CharField(max_length=64)
    timeout_s = models.PositiveIntegerField()
    sends = models.PositiveIntegerField(default=0, help_text="attempts that may have reached the hub")
    next_send_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    worker = models.CharField(max_length=100, blank=True, help_text="the worker that began it last")
    running_at = models.DateTimeField(null=True, help_text="first evidence that a worker runs it")
    absent_since = models.DateTimeField(null=True, help_text="first time the hub was asked and did not know it")
    percent = models.PositiveSmallIntegerField(default=0, help_text="how far its worker is")
    stopping_since = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["dispatch", "order"]
        constraints = [
            models.UniqueConstraint(fields=["dispatch", "job_id"], name="job_id_once_per_dispatch"),
            models.UniqueConstraint(
                fields=["asset_pk", "unit"],
                name="job_at_hub_once_per_unit",
                condition=Q(status__in=["reserved", "sent"]),
            ),
            models.CheckConstraint(
                condition=Q(status__in=["reserved", "sent", "done", "failed", "stopping", "dropped"]),
                name="job_status_known",
            ),
        ]
        indexes = [
            models.Index(fields=["status"], name="job_open", condition=Q(status__in=["reserved", "sent", "stopping"]))
        ]

    def __str__(self) -> str:
        return self.job_id


EDGES: dict[Job.Status, frozenset[Job.Status]] = {
    Job.Status.RESERVED: frozenset(
        {Job.Status.SENT, Job.Status.DONE, Job.Status.FAILED, Job.Status.STOPPING, Job.Status.DROPPED}
    ),
    Job.Status.SENT: frozenset({Job.Status.RESERVED, Job.Status.DONE, Job.Status.FAILED, Job.Status.STOPPING}),
    Job.Status.DONE: frozenset(),
    Job.Status.FAILED: frozenset(),
    Job.Status.STOPPING: frozenset({Job.Status.DROPPED}),
    Job.Status.DROPPED: frozenset(),
}
