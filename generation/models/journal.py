from django.contrib.postgres.indexes import BrinIndex
from django.db import models


class JournalEntry(models.Model):
    """Append-only log of what happened to the record. Ids are plain numbers: an entry outlives what it tells of."""

    at = models.DateTimeField(auto_now_add=True)
    event = models.CharField(max_length=40)
    book_key = models.CharField(max_length=200, blank=True)
    book_pk = models.BigIntegerField(null=True)
    scene_pk = models.BigIntegerField(null=True)
    asset_pk = models.BigIntegerField(null=True)
    stage = models.CharField(max_length=8, blank=True)
    change = models.CharField(max_length=60, blank=True, help_text="states passed, for example ready → dirty → pending")
    reason = models.CharField(max_length=60, blank=True)
    message = models.CharField(max_length=500, blank=True)
    command_pk = models.BigIntegerField(null=True)
    dispatch_id = models.CharField(max_length=32, blank=True)
    actor = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "journal"
        indexes = [
            models.Index(fields=["book_pk", "-id"], name="journal_of_book"),
            # Rows lie in the order of their time: a few pages tell where a day begins.
            BrinIndex(fields=["at"], name="journal_age"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.change}".strip()
