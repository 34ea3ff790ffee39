from django.db import models

from .commands import Command


class ForceSet(models.Model):
    """The pairs one command reset are its targets; until `expires_at` each may replace a live dispatch, once."""

    command = models.OneToOneField(Command, on_delete=models.CASCADE, related_name="force_set")
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"force set of command {self.command_id}"
