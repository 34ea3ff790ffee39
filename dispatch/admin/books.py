"""Books with their progress, and the commands on them. Every command shows its plan before it is given."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dispatch.models import StageWorkers
from dispatch.rendering.registry import renderable_stages
from generation import selectors
from generation.admin.readonly import OperatedAdmin
from generation.commands import cancel, regenerate
from generation.commands.answers import Actor
from generation.commands.planning import StagePlan
from generation.exceptions import GenerationError
from generation.lifecycle import State
from generation.models import Asset, Book, Task
from generation.stages import STAGES, StageName

from .book_actions import BOOK_ACTIONS

SHOWN_BOOKS = 50


@dataclass(frozen=True)
class Row:
    """One line of a confirmation."""

    book: str
    stage: str
    cells: tuple[int | str, ...]
    kept: int = 0


@admin.register(Book)
class BookAdmin(OperatedAdmin):
    list_display = ("title", "key", "author", "audio", "image", "video", "attention", "files")
    search_fields = ("title", "author", "key")
    actions = ("regenerate_images", "regenerate_all", "stop_all", *BOOK_ACTIONS)

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        changelist = super().get_changelist_instance(request)
        books: list[Any] = list(changelist.result_list)
        progress = selectors.progress(book.pk for book in books)
        blocked = Task.objects.filter(book__in=books, status=Task.Status.BLOCKED).values_list("book", "reason")
        reasons: dict[int, set[str]] = {}
        for book_pk, reason in blocked:
            reasons.setdefault(book_pk, set()).add(reason)
        unmade = selectors.unmade(book.pk for book in books)
        pauses = selectors.pauses(book.pk for book in books)
        for book in books:
            book.progress = progress[book.pk]
            book.unmade = {stage: unmade.get((book.pk, stage), 0) for stage in StageName}
            book.blocked_reasons = sorted(reasons.get(book.pk, set()))
            book.pauses = pauses[book.pk]
        changelist.result_list = books
        return changelist

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
        if book.auto_next_off_reason:
            told.append(f"Next scenes do not follow any more: {book.auto_next_off_reason}.")
        return " ".join(told) or "–"

    @admin.display(description="Files")
    def files(self, book: Any) -> SafeString:
        address = reverse("admin:generation_asset_changelist")
        return format_html('<a href="{}?book__id__exact={}&stage__exact=image">Pictures</a>', address, book.pk)

    @admin.action(description="Regenerate images", permissions=["operate"])
    def regenerate_images(self, request: HttpRequest, books: QuerySet[Book]) -> HttpResponse | None:
        return self._regenerate(request, books, (StageName.IMAGE.value,), "Regenerate images")

    @admin.action(description="Regenerate all", permissions=["operate"])
    def regenerate_all(self, request: HttpRequest, books: QuerySet[Book]) -> HttpResponse | None:
        return self._regenerate(request, books, (), "Regenerate all")

    @admin.action(description="Stop all", permissions=["stop"])
    def stop_all(self, request: HttpRequest, books: QuerySet[Book]) -> HttpResponse | None:
        if "confirmed" in request.POST:
            self._give(
                request, books, lambda book, actor, key: cancel.apply(cancel.Request(book.pk), actor, key), _stopped
            )
            return None
        shown = [(book, cancel.plan(cancel.Request(book.pk)).answer()) for book in books[:SHOWN_BOOKS]]
        rows = [
            Row(book.title, STAGES[StageName(stage)].name.label, (numbers["queued"], numbers["generating"]))
            for book, answer in shown
            for stage, numbers in answer["stages"].items()
        ]
        totals = Asset.objects.filter(book__in=books.values("pk")).aggregate(
            queued=Count("pk", filter=Q(state=State.PENDING)), generating=Count("pk", filter=Q(state=State.GENERATING))
        )
        text = (
            f"{totals['queued']} queued assets leave the queue and "
            f"{totals['generating']} running generations are abandoned. "
            "Finished files are kept. You can start again at any time."
        )
        return self._confirmation(
            request, books, "Stop all", rows, ("Queued", "Generating"), text, decline="Keep working"
        )

    def _regenerate(
        self, request: HttpRequest, books: QuerySet[Book], stages: tuple[str, ...], title: str
    ) -> HttpResponse | None:
        rebuild = request.POST.get("rebuild_all") == "on"
        if "confirmed" in request.POST:
            self._give(
                request,
                books,
                lambda book, actor, key: regenerate.apply(
                    regenerate.Request(book.pk, stages, rebuild_all=rebuild), actor, key
                ),
                _started,
            )
            return None
        workers = dict(StageWorkers.objects.values_list("stage", "count"))
        rows: list[Row] = []
        for book in books[:SHOWN_BOOKS]:
            try:
                planned = regenerate.plan(regenerate.Request(book.pk, stages))
            except GenerationError as error:
                self._refused(request, error, book)
                continue
            rows += [_plan_row(book, name, plan, workers) for name, plan in planned.stages.items()]
        if not rows:
            return None
        ready = sum(row.kept for row in rows)
        columns = ("Will be generated", "Kept", "Already queued", "Left out", "Workers")
        return self._confirmation(request, books, title, rows, columns, "", decline="Cancel", ready=ready)

    def _give(
        self,
        request: HttpRequest,
        books: QuerySet[Book],
        apply: Callable[[Book, Actor, str], dict[str, Any]],
        told: Callable[[Book, dict[str, Any]], str],
    ) -> None:
        """Give the command book by book; each is accepted or refused on its own and says so."""
        actor, key = Actor.of(cast(User, request.user)), request.POST.get("key") or uuid.uuid4().hex
        for book in books:
            try:
                self.message_user(request, told(book, apply(book, actor, f"{key}:{book.pk}")), messages.SUCCESS)
            except GenerationError as error:
                self._refused(request, error, book)

    def _refused(self, request: HttpRequest, error: GenerationError, book: Book | None = None) -> None:
        subject = f"{book.title}: the" if book else "The"
        text = f"{subject} command was not accepted. Nothing was started. {error}"
        self.message_user(request, text, messages.ERROR)

    def _confirmation(
        self,
        request: HttpRequest,
        books: QuerySet[Book],
        title: str,
        rows: list[Row],
        columns: tuple[str, ...],
        text: str,
        *,
        decline: str,
        ready: int | None = None,
    ) -> TemplateResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": title,
            "rows": rows,
            "columns": columns,
            "text": text,
            "decline": decline,
            "may_rebuild": ready is not None,
            "ready": ready,
            "more": max(0, books.count() - SHOWN_BOOKS),
            "opts": self.opts,
            "action": request.POST["action"],
            "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
            "select_across": request.POST.get("select_across", "0"),
            "checkbox": ACTION_CHECKBOX_NAME,
            "key": uuid.uuid4().hex,
        }
        return TemplateResponse(request, "admin/generation/book/confirmation.html", context)


def _counts(book: Any, stage: StageName) -> str:
    numbers = {state.label.lower(): number for state, number in book.progress[stage].items()}
    numbers[State.DIRTY.label.lower()] -= book.unmade[stage]
    numbers["not made"] = book.unmade[stage]
    return ", ".join(f"{number} {word}" for word, number in numbers.items() if number) or "–"


def _words(reason: str) -> str:
    """Return what an operator can do about a blocked task."""
    kind, _, stage = reason.partition(":")
    if kind == "no_worker" and stage not in renderable_stages():
        return f"Nothing renders {stage} yet. Stop {stage}, or wait for a version that does."
    if kind == "no_worker":
        return f"No {stage} worker is running. Start one with manage.py rqworker gpu-{stage}, then retry."
    return reason


def _plan_row(book: Book, name: StageName, plan: StagePlan, workers: dict[str, int]) -> Row:
    skipped = dict(plan.counts()["skipped"])
    kept, queued = skipped.pop("ready", 0), skipped.pop("already_queued", 0)
    left_out = ", ".join(f"{number} {reason.replace('_', ' ')}" for reason, number in skipped.items()) or 0
    return Row(book.title, name.label, (len(plan.targets), kept, queued, left_out, _staff(name, workers)), kept)


def _staff(stage: StageName, workers: dict[str, int]) -> int | str:
    number = workers.get(stage, 0)
    return number if number or stage in renderable_stages() else "0: nothing renders it yet"


def _started(book: Book, answer: dict[str, Any]) -> str:
    if not answer["targets"]:
        return f"{book.title}: nothing to do, everything asked for is ready or queued."
    queued = [_amount(stage, plan["targets"]) for stage, plan in answer["stages"].items() if plan["targets"]]
    return f"{book.title}: {', '.join(queued)} queued."


def _amount(stage: str, number: int) -> str:
    noun = STAGES[StageName(stage)].noun
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _stopped(book: Book, answer: dict[str, Any]) -> str:
    return (
        f"{book.title}: stopped. {answer['queued']} queued assets left the queue, "
        f"{answer['generating']} running generations are abandoned."
    )
