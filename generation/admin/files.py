"""Artifact files, for signed-in people who may see artifacts."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponseForbidden
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from generation import stand_ins, store
from generation.lifecycle import State
from generation.models import ArtifactFile, Asset


@require_safe
def artifact_file(request: HttpRequest, pk: int) -> FileResponse | HttpResponseForbidden:
    """Send one file. 403 without the permission, signed in or not; 404 for a file that does not exist."""
    if not request.user.has_perm("generation.view_artifact"):
        return HttpResponseForbidden("You may not see this file.")
    file = get_object_or_404(ArtifactFile, pk=pk)
    try:
        content = store.open_file(file.name)
    except FileNotFoundError:
        raise Http404("The file is gone from the storage.") from None
    response = FileResponse(content, content_type=file.content_type)
    # A name is never reused, so what is cached never goes stale; it stays with the one browser.
    response["Cache-Control"] = "private, max-age=86400, immutable"
    response["Content-Length"] = str(file.size)
    return response


@require_safe
def stand_in_file(request: HttpRequest, pk: int) -> FileResponse | HttpResponseForbidden:
    """Send what stands in for an asset. 403 without the permission; 404 for an asset that needs none."""
    if not request.user.has_perm("generation.view_artifact"):
        return HttpResponseForbidden("You may not see this file.")
    asset = get_object_or_404(Asset, pk=pk, state=State.PLACEHOLDER)
    try:
        content = store.open_file(asset.stand_in)
    except FileNotFoundError:
        raise Http404("The file is gone from the storage.") from None
    response = FileResponse(content, content_type=stand_ins.content_type_of(asset.stand_in))
    response["Cache-Control"] = "private, no-cache"  # the asset may have a result by the next look
    return response
