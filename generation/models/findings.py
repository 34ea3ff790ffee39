from django.db import models


class Finding(models.Model):
    """A defect that reconciliation saw; open until it is gone. Ids are plain: a finding outlives what it tells of."""

    kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=200, help_text="what it is about: an asset, a file, a dispatch")
    detail = models.CharField(max_length=500, blank=True)
    book_pk = models.BigIntegerField(null=True)
    first_seen_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField(auto_now_add=True)
    fixed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"], name="finding_open_once", condition=models.Q(fixed_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.subject}"
