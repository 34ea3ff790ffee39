"""Artifact files, for signed-in people who may see artifacts."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponseForbidden
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from generation import store
from generation.models import ArtifactFile


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
