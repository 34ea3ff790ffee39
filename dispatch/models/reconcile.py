from django.db import models


class ReconcileState(models.Model):
    """The single row that says when the record was last looked through, and how far in the files."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    passed_at = models.DateTimeField(null=True)
    file_pk = models.BigIntegerField(default=0, help_text="published files up to here were looked for")
    folder = models.CharField(max_length=200, blank=True, help_text="folders up to here were looked through")

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="reconcile_state_single")]

    def __str__(self) -> str:
        return f"passed at {self.passed_at}"
