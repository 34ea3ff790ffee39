"""Artifact files, for signed-in people who may see artifacts."""

from collections.abc import Callable
from functools import wraps

from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseForbidden
from django.shortcuts import get_object_or_404
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from generation import covers, stand_ins
from generation.lifecycle import State
from generation.models import ArtifactFile, Asset, Book
from generation.store import EXTENSIONS

from .ranges import send_file

View = Callable[[HttpRequest, int], HttpResponseBase]


def for_those_who_may_see(view: View) -> View:
    """Answer 403 without the permission, signed in or not, and 404 when the storage has the file no more."""

    @require_safe
    @wraps(view)
    def guarded(request: HttpRequest, pk: int) -> HttpResponseBase:
        if not request.user.has_perm("generation.view_artifact"):
            return HttpResponseForbidden("You may not see this file.")
        try:
            return view(request, pk)
        except FileNotFoundError:
            raise Http404("The file is gone from the storage.") from None

    return guarded


@for_those_who_may_see
def artifact_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send one file, or the range asked for; as a download with `?download`."""
    file = get_object_or_404(ArtifactFile.objects.select_related("artifact__asset__scene__book"), pk=pk)
    response = send_file(request, file.name, file.content_type, file.sha256)
    # A name is never reused, so what is cached never goes stale; it stays with the one browser.
    response["Cache-Control"] = "private, max-age=86400, immutable"
    if "download" in request.GET:
        response["Content-Disposition"] = str(content_disposition_header(True, _filename(file)))
    return response


@for_those_who_may_see
def stand_in_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send what stands in for an asset; 404 for an asset that needs none."""
    asset = get_object_or_404(Asset, pk=pk, state=State.PLACEHOLDER)
    response = send_file(request, asset.stand_in, stand_ins.content_type_of(asset.stand_in), f"{pk}-{asset.stand_in}")
    response["Cache-Control"] = "private, no-cache"  # the asset may have a result by the next look
    return response


@for_those_who_may_see
def book_cover(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the cover of a book; 404 for a book without one."""
    book = get_object_or_404(Book.objects.exclude(cover=""), pk=pk)
    response = send_file(request, book.cover, covers.content_type_of(book.cover), book.cover)
    response["Cache-Control"] = "private, max-age=86400"
    return response


def _filename(file: ArtifactFile) -> str:
    asset = file.artifact.asset
    role = "" if file.role == ArtifactFile.MAIN else f" {file.role}"
    place = f"{asset.scene.book.title[:80]} {asset.scene.position:04} {asset.stage}{role}"
    printable = "".join(character if character.isalnum() or character in " -_.,'()" else "_" for character in place)
    return f"{printable}.{EXTENSIONS.get(file.content_type, 'bin')}"
