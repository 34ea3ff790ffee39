import unicodedata
import uuid

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models

from generation.querysets import BookQuerySet

KEY_MAX = 200


def validate_key(key: str) -> None:
    """Accept any printable text of 1 to 200 characters; a key is data, never a path, URL part or Redis key."""
    if not key.strip():
        raise ValidationError("The key is empty.", code="key_empty")
    if len(key) > KEY_MAX:
        raise ValidationError(f"The key has {len(key)} characters; {KEY_MAX} is the most.", code="key_too_long")
    for character in key:
        # Cf holds the joiners inside emoji and right-to-left marks, Cn the emoji newer than this Python: both are text.
        if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}:
            raise ValidationError(f"The key contains {character!r}, which cannot be printed.", code="key_unprintable")


def words_in(text: str) -> bool:
    """True when the text has a letter or a digit: something that can be spoken and drawn."""
    return any(character.isalnum() for character in text)


class Book(models.Model):
    key = models.CharField(max_length=KEY_MAX, unique=True, validators=[validate_key])
    title = models.CharField(max_length=500)
    author = models.CharField(max_length=500, blank=True)
    language = models.CharField(max_length=16, blank=True, help_text="ISO 639-1 code, empty when unknown")
    cover = models.CharField(max_length=200, blank=True, help_text="name in the artifact storage; empty without one")
    # One per import: a result made for an earlier import of the same book is foreign.
    build_id = models.UUIDField(default=uuid.uuid4, editable=False)
    revision = models.PositiveBigIntegerField(default=0, editable=False)
    # Who switched on that a finished window is followed by the next one; nobody means off.
    auto_next_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    auto_next_off_reason = models.CharField(max_length=200, blank=True, help_text="why it switched itself off")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BookQuerySet.as_manager()

    class Meta:
        ordering = ["title", "pk"]
        permissions = [
            ("operate_book", "Can regenerate, and change what waits"),
            ("stop_book", "Can stop generation, and regenerate by force"),
            ("configure_layers", "Can switch layers on and off, and pause stages"),
        ]

    def __str__(self) -> str:
        return self.title


class Chapter(models.Model):
    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="chapters")
    key = models.CharField(max_length=KEY_MAX, blank=True, help_text="the imported file's own name for it, or empty")
    number = models.PositiveIntegerField(help_text="place in the book, from 1")
    title = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["book", "number"]
        # Deferred, as those of scenes: an import renumbers many rows at once.
        constraints = [
            models.UniqueConstraint(
                fields=["book", "number"], name="chapter_number_once", deferrable=models.Deferrable.DEFERRED
            )
        ]

    def __str__(self) -> str:
        return self.title or f"Chapter {self.number}"


class Scene(models.Model):
    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="scenes")
    chapter = models.ForeignKey(Chapter, on_delete=models.CASCADE, related_name="scenes")
    number = models.PositiveIntegerField(help_text="place in the chapter, from 1")
    position = models.PositiveIntegerField(help_text="place in the book's reading order, from 1")
    key = models.CharField(max_length=KEY_MAX, blank=True, help_text="the imported file's own name for it, or empty")
    title = models.CharField(max_length=500, blank=True)
    text = models.TextField()
    # False when there is nothing to speak or draw; set with the text, by `words_in`.
    has_words = models.BooleanField(default=True, editable=False)
    voice = models.CharField(max_length=40, blank=True, help_text="name of a voice; empty for the language's own")
    speed_percent = models.PositiveSmallIntegerField(default=100, help_text="of speech, 50 to 200")
    content_version = models.PositiveIntegerField(default=1, editable=False)
    audio_config_version = models.PositiveIntegerField(default=1, editable=False)
    # Set by whatever changes an input; the tick compares the scene's ready assets once and clears it.
    recheck = models.BooleanField(default=False, editable=False)

    class Meta:
        ordering = ["book", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["chapter", "number"], name="scene_number_once", deferrable=models.Deferrable.DEFERRED
            ),
            models.UniqueConstraint(
                fields=["book", "position"], name="scene_position_once", deferrable=models.Deferrable.DEFERRED
            ),
            models.CheckConstraint(
                condition=models.Q(speed_percent__gte=50, speed_percent__lte=200), name="scene_speed_50_to_200"
            ),
        ]
        indexes = [models.Index(fields=["book"], name="scene_recheck", condition=models.Q(recheck=True))]

    def __str__(self) -> str:
        return f"{self.chapter} · {self.title or f'scene {self.number}'}"


class ImageUnit(models.Model):
    """One picture of a scene, with what it shall show. A scene without any gets one picture, drawn from its text."""

    scene = models.ForeignKey(Scene, on_delete=models.CASCADE, related_name="image_units")
    number = models.PositiveIntegerField(help_text="place among the scene's pictures, from 1")
    key = models.CharField(max_length=KEY_MAX, help_text="the imported file's own name for it")
    prompt = models.TextField()

    class Meta:
        ordering = ["scene", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["scene", "number"], name="image_unit_number_once", deferrable=models.Deferrable.DEFERRED
            ),
            models.UniqueConstraint(fields=["scene", "key"], name="image_unit_key_once"),
        ]

    def __str__(self) -> str:
        return f"{self.scene} · picture {self.number}"
