"""Books with their progress, and the commands on them. Every command shows its plan before it is given."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Count
from django.db.models.functions import Now
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dispatch.models import Dispatch, StageWorkers
from dispatch.rendering.registry import renderable_stages
from dispatch.tick.workers import NO_WORKER
from generation import selectors, words
from generation.admin.importing import ImportingAdmin
from generation.admin.readonly import OperatedAdmin
from generation.lifecycle import State
from generation.models import Book, Task
from generation.stages import StageName

from .book_actions import BOOK_ACTIONS

JOINED_WITHIN = timedelta(minutes=1)
# What a tick read of the workers longer ago says nothing about now.
READ_WITHIN = timedelta(minutes=1)
FILES = {StageName.AUDIO: "Sound", StageName.IMAGE: "Pictures", StageName.VIDEO: "Film"}


@admin.register(Book)
class BookAdmin(ImportingAdmin, OperatedAdmin):
    list_display = ("title", "front", "key", "author", "audio", "image", "video", "attention", "files")
    search_fields = ("title", "author", "key")
    actions = BOOK_ACTIONS
    exclude = ("cover",)

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        changelist = super().get_changelist_instance(request)
        books: list[Any] = list(changelist.result_list)
        progress = selectors.progress(book.pk for book in books)
        blocked = Task.objects.filter(book__in=books, status=Task.Status.BLOCKED).values_list("book", "reason")
        reasons: dict[int, set[str]] = {}
        for book_pk, reason in blocked:
            reasons.setdefault(book_pk, set()).add(reason)
        unjoined = _unjoined(books)
        unmade = selectors.unmade(book.pk for book in books)
        pauses = selectors.pauses(book.pk for book in books)
        unstaffed = _unstaffed()
        for book in books:
            book.progress = progress[book.pk]
            book.unmade = {stage: unmade.get((book.pk, stage), 0) for stage in StageName}
            book.blocked_reasons = sorted(reasons.get(book.pk, set()))
            book.unstaffed = [stage for stage in unstaffed if NO_WORKER + stage not in book.blocked_reasons]
            book.pauses = pauses[book.pk]
            book.unjoined = unjoined.get(book.pk, 0)
        changelist.result_list = books
        return changelist

    @admin.display(description="Cover")
    def front(self, book: Book) -> SafeString | str:
        if not book.cover:
            return ""
        address = reverse("book-cover", args=[book.pk])
        return format_html('<img src="{}" alt="Cover of {}" height="64" loading="lazy">', address, book.title)

    @admin.display(description="Audio")
    def audio(self, book: Any) -> str:
        return _counts(book, StageName.AUDIO)

    @admin.display(description="Images")
    def image(self, book: Any) -> str:
        return _counts(book, StageName.IMAGE)

    @admin.display(description="Video")
    def video(self, book: Any) -> str:
        return _counts(book, StageName.VIDEO)

    @admin.display(description="Needs attention")
    def attention(self, book: Any) -> str:
        told = [*book.pauses, *(_words(reason) for reason in book.blocked_reasons)]
        # A worker would not begin what is paused.
        for stage in [] if book.pauses else book.unstaffed:
            if book.progress[stage][State.PENDING]:
                waiting = words.of_stage(stage, book.progress[stage][State.PENDING])
                told.append(f"{waiting} queued, and no {stage} worker is running. {_start_a_worker(stage)}.")
        for stage, states in book.progress.items():
            if states[State.FAILED]:
                told.append(f"{words.of_stage(stage, states[State.FAILED])} failed; {FILES[stage]} says why.")
        if book.unjoined:
            waiting = words.amount(book.unjoined, "narration")
            told.append(f"{waiting} wait to be joined. Start a worker with manage.py rqworker assembly.")
        if book.auto_next_off_reason:
            told.append(f"Next scenes do not follow any more: {book.auto_next_off_reason}.")
        return " ".join(told) or "–"

    @admin.display(description="Files")
    def files(self, book: Any) -> SafeString:
        address = reverse("admin:generation_asset_changelist")
        links = [(address, book.pk, stage.value, name) for stage, name in FILES.items()]
        return format_html_join(" · ", '<a href="{}?book__id__exact={}&stage__exact={}">{}</a>', links)


def _unjoined(books: list[Any]) -> dict[int, int]:
    """Return {book: narrations} whose parts are all there for a minute and nobody has begun to join."""
    waiting = Dispatch.objects.filter(status=Dispatch.Status.ACTIVE, book__in=books, assembly_attempts=0)
    old = waiting.filter(assembling_at__lt=Now() - JOINED_WITHIN).order_by()
    return dict(old.values_list("book").annotate(number=Count("pk")))


def _unstaffed() -> list[StageName]:
    """Return the stages that are rendered and of which the last tick saw no worker, nor one that ends."""
    absent = StageWorkers.objects.filter(count=0, draining=0, read_at__gt=Now() - READ_WITHIN)
    return [StageName(stage) for stage in absent.filter(stage__in=renderable_stages()).values_list("stage", flat=True)]


def _counts(book: Any, stage: StageName) -> str:
    numbers = {state.label.lower(): number for state, number in book.progress[stage].items()}
    numbers[State.DIRTY.label.lower()] -= book.unmade[stage]
    numbers["not made"] = book.unmade[stage]
    return ", ".join(f"{number} {word}" for word, number in numbers.items() if number) or "–"


def _words(reason: str) -> str:
    """Return what an operator can do about a blocked task."""
    if not reason.startswith(NO_WORKER):
        return reason
    stage = reason.removeprefix(NO_WORKER)
    if stage not in renderable_stages():
        return f"Nothing renders {stage} yet. Stop {stage}, or wait for a version that does."
    return f"No {stage} worker is running. {_start_a_worker(stage)}, then retry."


def _start_a_worker(stage: str) -> str:
    return f"Start one with manage.py rqworker gpu-{stage}"
