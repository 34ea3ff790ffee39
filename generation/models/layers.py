from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from generation.querysets import LayerConfigQuerySet
from generation.stages import StageName

from .books import Book


class Pausable(models.Model):
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.CharField(max_length=150, blank=True)
    paused_why = models.CharField(max_length=200, blank=True)

    class Meta:
        abstract = True


class LayerConfig(Pausable):
    """Book × stage. No row means: on, default timeout, never cancelled."""

    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="layers")
    stage = models.CharField(max_length=8, choices=StageName.choices)
    enabled = models.BooleanField(default=True)
    job_timeout_min = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(5), MaxValueValidator(180)]
    )
    # The tombstone of Stop all: only an operator's regenerate of this stage lifts it.
    cancelled_at = models.DateTimeField(null=True, blank=True)
    cancelled_by = models.CharField(max_length=150, blank=True)
    last_dispatched_at = models.DateTimeField(null=True, editable=False)

    objects = LayerConfigQuerySet.as_manager()

    class Meta:
        ordering = ["book", "stage"]
        constraints = [
            models.UniqueConstraint(fields=["book", "stage"], name="layer_once_per_book_and_stage"),
            models.CheckConstraint(condition=models.Q(stage__in=StageName.values), name="layer_stage_known"),
            models.CheckConstraint(
                condition=models.Q(job_timeout_min__isnull=True)
                | models.Q(job_timeout_min__gte=5, job_timeout_min__lte=180),
                name="layer_job_timeout_5_to_180",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.book} · {self.stage}"


class StageConfig(Pausable):
    """A stage, cluster-wide. No row means: the registry's quota, not paused."""

    stage = models.CharField(max_length=8, choices=StageName.choices, primary_key=True)
    quota = models.PositiveSmallIntegerField()
    # A number, not a time: the tick compares it with what Redis obeyed last, and no two clocks are compared.
    circuit_resets = models.PositiveIntegerField(default=0, help_text="how often operators reset its circuit")

    class Meta:
        ordering = ["stage"]
        constraints = [
            models.CheckConstraint(condition=models.Q(stage__in=StageName.values), name="stage_config_stage_known")
        ]

    def __str__(self) -> str:
        return self.stage


class SystemConfig(Pausable):
    """The single row of what holds for all stages and books. No row means: not paused."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)

    class Meta:
        verbose_name = "system"
        verbose_name_plural = "system"
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="system_config_single")]

    def __str__(self) -> str:
        return "paused" if self.paused_at else "running"
