from django.db import models


class TickLease(models.Model):
    """The single row that says whose tick runs. In PostgreSQL: a fence counted in Redis starts again when emptied."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    owner = models.CharField(max_length=32, blank=True)
    fence = models.PositiveBigIntegerField(default=0)
    expires_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    pruned_at = models.DateTimeField(null=True)
    analysed_targets = models.PositiveIntegerField(default=0, help_text="open targets when statistics were last taken")

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="tick_lease_single")]

    def __str__(self) -> str:
        return f"fence {self.fence}"


class TickRing(models.Model):
    """When somebody last asked for a tick. A row of its own: the lease's row is held by every transaction of the tick,
    and a command would wait for those.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    rung_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="tick_ring_single")]

    def __str__(self) -> str:
        return f"rung at {self.rung_at}"


class TickReport(models.Model):
    fence = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    report = models.JSONField()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["created_at"], name="tick_report_age")]

    def __str__(self) -> str:
        return f"tick {self.fence}"
