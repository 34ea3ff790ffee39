from django.db import models

from generation.stages import StageName


class StageWorkers(models.Model):
    """When workers of a stage were last read. In PostgreSQL, so that an emptied Redis is not "never seen any"."""

    stage = models.CharField(max_length=8, choices=StageName.choices, primary_key=True)
    count = models.PositiveIntegerField(default=0, help_text="workers that take jobs")
    draining = models.PositiveIntegerField(default=0, help_text="workers that finish their last job")
    read_at = models.DateTimeField(null=True, help_text="last time the hub could be asked")
    seen_at = models.DateTimeField(null=True, help_text="last time there was at least one")
    absent_since = models.DateTimeField(null=True, help_text="first of the readings of zero that last until now")

    class Meta:
        ordering = ["stage"]
        verbose_name_plural = "workers by stage"

    def __str__(self) -> str:
        return f"{self.count} × {self.stage}"
