"""Commands as admin actions. Each shows its plan first and is given by a second, confirmed POST."""

import hashlib
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from generation.commands.answers import Actor
from generation.exceptions import GenerationError

SHOWN = 50
# What was asked for, by the words for what it is about.
Requests = Iterable[tuple[str, Any]]


Plans = list[tuple[str, Any]]


@dataclass(frozen=True)
class Table:
    """How plans are shown: `rows(plans)` returns (subject, cells) per line of what `plan` returned, by subject."""

    columns: tuple[str, ...]
    rows: Callable[[Plans], list[tuple[str, tuple[Any, ...]]]] | None = None


ONE_LINE = Table(("What will happen",))


@dataclass(frozen=True)
class CommandAction:
    """How one command is given on selected rows.

    `requests(rows, data)` makes the requests from the rows and the cleaned data of `form`; `words(answer)` tells an
    answer of `plan` or `apply`, `done(answer)` one of `apply` where that is said otherwise. `permission` is one of the
    admin's `has_…_permission`. A `table` says more of a plan than one line; `text` may depend on all selected rows.
    """

    title: str
    permission: str
    requests: Callable[[QuerySet[Any], Mapping[str, Any]], Requests]
    plan: Callable[[Any], Any]
    apply: Callable[..., dict[str, Any]]
    words: Callable[[Mapping[str, Any]], str]
    form: type[forms.Form] = forms.Form
    text: str | Callable[[QuerySet[Any]], str] = ""
    decline: str = "Cancel"
    table: Table = ONE_LINE
    done: Callable[[Mapping[str, Any]], str] | None = None

    def as_action(self, name: str) -> Any:
        """Return the function that goes into `ModelAdmin.actions`."""

        @admin.action(description=self.title, permissions=[self.permission])
        def action(model_admin: Any, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
            return self._run(model_admin, request, rows)

        action.__name__ = name
        return action

    def _run(self, model_admin: Any, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
        is_confirmed = "confirmed" in request.POST
        initial = {name: field.initial for name, field in self.form.base_fields.items()}
        form = self.form(request.POST if is_confirmed else initial)
        data = form.cleaned_data if form.is_valid() else None
        requests = [] if data is None else list(self.requests(rows, data))
        if data is not None and not requests:
            model_admin.message_user(request, "Nothing was selected that still exists.", messages.WARNING)
            return None
        # What was chosen on the page changes what will happen: it is shown before it is done.
        is_shown = request.POST.get("shown", _digest(data)) == _digest(data)
        if is_confirmed and data is not None and is_shown:
            self._give(model_admin, request, requests)
            return None
        if is_confirmed and data is not None:
            model_admin.message_user(request, "This is what will happen now. Confirm once more.", messages.INFO)
        return self._confirmation(model_admin, request, rows, form, requests, _digest(data))

    def _give(self, model_admin: Any, request: HttpRequest, requests: Requests) -> None:
        """Give the commands one by one; each is accepted or refused on its own and says so."""
        actor, key = Actor.of(cast(User, request.user)), request.POST.get("key") or uuid.uuid4().hex
        for subject, asked in requests:
            try:
                answer = self.apply(asked, actor, f"{key}:{uuid.uuid5(uuid.NAMESPACE_OID, repr(asked)).hex}")
            except GenerationError as error:
                model_admin.message_user(request, refusal(subject, error), messages.ERROR)
            else:
                told = (self.done or self.words)(answer)
                model_admin.message_user(request, f"{self.title}. {subject}: {told}.", messages.SUCCESS)

    def _confirmation(
        self,
        model_admin: Any,
        request: HttpRequest,
        rows: QuerySet[Any],
        form: forms.Form,
        requests: list[tuple[str, Any]],
        shown: str,
    ) -> TemplateResponse:
        context = {
            **model_admin.admin_site.each_context(request),
            "title": self.title,
            "columns": self.table.columns,
            "lines": self._lines(model_admin, request, requests[:SHOWN]),
            "more": max(0, len(requests) - SHOWN),
            "text": self.text if isinstance(self.text, str) else self.text(rows),
            "form": form,
            "shown": shown,
            "decline": self.decline,
            "opts": model_admin.opts,
            "action": request.POST["action"],
            "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
            "select_across": request.POST.get("select_across", "0"),
            "checkbox": ACTION_CHECKBOX_NAME,
            "key": request.POST.get("key") or uuid.uuid4().hex,
        }
        return TemplateResponse(request, "admin/command_confirmation.html", context)

    def _lines(
        self, model_admin: Any, request: HttpRequest, requests: list[tuple[str, Any]]
    ) -> list[tuple[str, tuple[Any, ...]]]:
        """Return the lines of the plan. What would be refused says so, and keeps no other from its plan."""
        plans: Plans = []
        for subject, asked in requests:
            try:
                plans.append((subject, self.plan(asked)))
            except GenerationError as error:
                model_admin.message_user(request, refusal(subject, error), messages.ERROR)
        if self.table.rows is not None:
            return self.table.rows(plans)
        return [(subject, (self.words(planned.answer()),)) for subject, planned in plans]


def _digest(data: Mapping[str, Any] | None) -> str:
    """Return what names this choice among others of the form."""
    return hashlib.sha256(repr(sorted((data or {}).items())).encode()).hexdigest()[:16]


def refusal(subject: str, error: GenerationError) -> str:
    return f"{subject}: the command was not accepted. Nothing was started. {error}"


def by_book(rows: QuerySet[Any]) -> Iterable[tuple[Any, tuple[int, ...]]]:
    """Return each book of the selected scenes or chapters with their keys: one command per book, however many."""
    chosen: dict[int, list[int]] = {}
    books = {}
    for row in rows.select_related(None).select_related("book").order_by("book", "pk"):
        books[row.book_id] = row.book
        chosen.setdefault(row.book_id, []).append(row.pk)
    return [(books[pk], tuple(pks)) for pk, pks in chosen.items()]
