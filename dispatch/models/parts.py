from django.db import models

from generation.models import Asset


class Part(models.Model):
    """The finished file of one unit of an asset, kept until all units are joined and published.

    A re-dispatch takes it over when its unit is still to be made from the same inputs.
    """

    # Without an asset nobody will ever ask for it.
    asset = models.ForeignKey(Asset, on_delete=models.SET_NULL, null=True, related_name="parts")
    unit = models.CharField(max_length=40)
    fingerprint = models.CharField(max_length=64)
    files = models.JSONField(help_text="stored files by role")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["asset", "unit"]
        constraints = [
            models.UniqueConstraint(fields=["asset", "unit", "fingerprint"], name="part_once_per_unit_and_inputs")
        ]
        indexes = [models.Index(fields=["created_at"], name="part_age")]

    def __str__(self) -> str:
        return f"{self.asset} · {self.unit}"
