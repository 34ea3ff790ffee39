"""Uploading a book: its chapters and scenes are shown before anything is saved."""

import uuid
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.core.files.base import ContentFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from generation import store, words
from generation.commands import import_book
from generation.commands.answers import Actor
from generation.exceptions import GenerationError, ImportRefused, KeyTaken
from generation.importing.files import read_file
from generation.importing.parsed import ParsedScene
from generation.importing.sentences import narration_s
from generation.models import Book
from generation.models.books import KEY_MAX

PERMISSION = "generation.add_book"
SALT = "generation.upload"
# An upload that nobody confirmed is a file that no row owns; it may be confirmed for a day.
CONFIRM_WITHIN_S = 86_400
SHOWN_CHAPTERS = 200
OPENING = 160


class UploadForm(forms.Form):
    file = forms.FileField(
        label="File", help_text="EPUB 2 or 3, plain text, or the .zip of a bundle.", allow_empty_file=True
    )


class ConfirmForm(forms.Form):
    upload = forms.CharField(widget=forms.HiddenInput)
    key = forms.CharField(max_length=KEY_MAX, help_text="Your name for the book. It stays the same for ever.")
    encoding = forms.CharField(
        max_length=40, required=False, help_text="Only for a plain text that is misread below, for example cp1251."
    )
    update = forms.BooleanField(
        required=False,
        label="Update the book that has this key",
        help_text="Scenes whose text did not change keep their files. Changed ones become out of date.",
    )


@dataclass(frozen=True)
class ChapterPreview:
    title: str
    scenes: int
    minutes: float
    opening: str


class ImportingAdmin:
    """What a ModelAdmin of books needs to take uploads."""

    admin_site: Any
    opts: Any
    message_user: Any

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.import_view)
        return [path("import/", view, name="generation_book_import"), *super().get_urls()]  # type: ignore[misc]

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """GET asks for a file; the first POST shows what is in it, the second, confirmed, saves it."""
        if not request.user.has_perm(PERMISSION):
            raise PermissionDenied
        if request.method != "POST":
            return self._page(request, UploadForm())
        if "upload" not in request.POST:
            return self._uploaded(request)
        form = ConfirmForm(request.POST)
        try:
            upload = signing.loads(request.POST["upload"], salt=SALT, max_age=CONFIRM_WITHIN_S)
            content = _read(upload["name"])
        except (signing.BadSignature, FileNotFoundError):
            self.message_user(request, "This upload is gone. Nothing was saved. Upload the file again.", messages.ERROR)
            return self._page(request, UploadForm())
        if not form.is_valid():
            return self._page(request, form)
        planned = None
        try:
            parsed = read_file(content, upload["filename"], form.cleaned_data["encoding"] or None)
            asked = import_book.Request(parsed, form.cleaned_data["key"], form.cleaned_data["update"])
            # What is shown while the key is taken is the file as it is.
            planned = import_book.preview(asked)
            shown = _digest(form.cleaned_data)
            # What was ticked or typed on the page changes what will happen: it is shown before it is done.
            if "confirmed" not in request.POST or (asked.update and request.POST.get("shown") != shown):
                if "confirmed" in request.POST:
                    self.message_user(request, "This is what will happen now. Confirm once more.", messages.INFO)
                return self._page(request, form, import_book.plan(asked), shown)
            answer = import_book.apply(asked, Actor.of(cast(User, request.user)), upload["name"])
        except GenerationError as error:
            form.add_error("key" if isinstance(error, KeyTaken) else None, str(error))
            return self._page(request, form, planned)
        store.storage().delete(upload["name"])
        done = f"{'updated' if asked.update else 'imported'}: {words.imported(answer)}"
        self.message_user(request, f"{answer['title']} was {done}. Nothing is generated yet.", messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:generation_book_changelist"))

    def _uploaded(self, request: HttpRequest) -> HttpResponse:
        form = UploadForm(request.POST, request.FILES)
        if not form.is_valid():
            return self._page(request, form)
        file = form.cleaned_data["file"]
        content = file.read()
        try:
            parsed = read_file(content, file.name)
        except ImportRefused as error:
            form.add_error("file", str(error))
            return self._page(request, form)
        key = (parsed.key or PurePath(file.name).stem)[:KEY_MAX]
        name = store.storage().save(f"uploads/{uuid.uuid4().hex}", ContentFile(content))
        upload = signing.dumps({"name": name, "filename": file.name}, salt=SALT)
        planned = import_book.preview(import_book.Request(parsed, key))
        if Book.objects.filter(key=key).exists():
            taken = f"There is already a book with the key {key!r}. Choose another key, or tick that it is updated."
            self.message_user(request, taken, messages.WARNING)
        return self._page(request, ConfirmForm(initial={"upload": upload, "key": key}), planned)

    def _page(
        self, request: HttpRequest, form: forms.Form, planned: import_book.Plan | None = None, shown: str = ""
    ) -> TemplateResponse:
        chapters = _previews(planned) if planned else []
        context = {
            **self.admin_site.each_context(request),
            "title": "Import a book",
            "opts": self.opts,
            "form": form,
            "shown": shown,
            "plan": planned.answer() if planned else None,
            "parsed": planned.request.parsed if planned else None,
            "changes": words.imported(planned.answer()) if planned and planned.book else "",
            "chapters": chapters[:SHOWN_CHAPTERS],
            "more": max(0, len(chapters) - SHOWN_CHAPTERS),
            "scenes": words.amount(sum(chapter.scenes for chapter in chapters), "scene"),
            "chapters_found": words.amount(len(chapters), "chapter"),
            "minutes": f"{sum(chapter.minutes for chapter in chapters):.1f}",
        }
        return TemplateResponse(request, "admin/generation/book/import.html", context)


def _digest(data: dict[str, Any]) -> str:
    return f"{data['key']}|{data['encoding']}|{data['update']}"


def _previews(planned: import_book.Plan) -> list[ChapterPreview]:
    scenes: dict[int, list[ParsedScene]] = {}
    for place in planned.outline.placed:
        scenes.setdefault(place.chapter, []).append(place.parsed)
    return [_preview(planned.request.parsed.chapters[index].title, found) for index, found in scenes.items()]


def _preview(title: str, scenes: list[ParsedScene]) -> ChapterPreview:
    minutes = sum(narration_s(scene.text) for scene in scenes) / 60
    return ChapterPreview(title, len(scenes), round(minutes, 1), words.opening(scenes[0].text, OPENING))


def _read(name: str) -> bytes:
    with store.open_file(name) as file:
        return file.read()
