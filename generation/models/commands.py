from django.conf import settings
from django.db import models

from .books import Book


class Command(models.Model):
    """What an operator asked, and the answer. The same (actor, key) never acts twice."""

    class Kind(models.TextChoices):
        IMPORT = "import", "Import"
        REGENERATE = "regenerate", "Regenerate"
        CANCEL = "cancel", "Stop"
        CANCEL_TASK = "cancel_task", "Cancel a task"
        LAYER = "layer", "Layer on or off"
        RETRY = "retry", "Retry"
        PAUSE = "pause", "Pause"
        RESUME = "resume", "Resume"
        EDIT_TEXT = "edit_text", "Edit text"
        EDIT_VOICES = "edit_voices", "Edit voices"
        DELETE = "delete", "Delete"
        RESTORE = "restore", "Restore a version"
        PLACEHOLDER = "placeholder", "Fill with placeholders"
        PRIORITY = "priority", "Move to front"
        AUTO_NEXT = "auto_next", "Next windows by themselves"
        QUOTA = "quota", "Set a quota"
        JOB_TIMEOUT = "job_timeout", "Set a job timeout"
        RESET_CIRCUIT = "reset_circuit", "Reset a circuit"

    kind = models.CharField(max_length=16, choices=Kind.choices)
    book = models.ForeignKey(Book, on_delete=models.SET_NULL, null=True, related_name="commands")
    book_key = models.CharField(max_length=200, blank=True, help_text="empty for a command on all books")
    params = models.JSONField()
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    actor_name = models.CharField(max_length=150)
    key = models.CharField(max_length=200, blank=True, help_text="idempotency key chosen by the caller, or empty")
    digest = models.CharField(max_length=64)
    answer = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["created_at"], name="command_age")]
        constraints = [
            models.UniqueConstraint(
                fields=["actor_name", "key"], name="command_key_once_per_actor", condition=~models.Q(key="")
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · {self.book_key or 'all books'}"
