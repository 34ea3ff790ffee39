"""An export over HTTP."""

from collections.abc import Iterable

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

from generation.models import Book

from .book import Export
from .writing import zip_chunks


def zip_response(books: Iterable[Book]) -> StreamingHttpResponse:
    """Return a zip with a folder per book, which is sent while it is made."""
    exports = [Export(book) for book in books]
    response = StreamingHttpResponse(zip_chunks(exports), content_type="application/zip")
    name = exports[0].name if len(exports) == 1 else "books"
    response["Content-Disposition"] = str(content_disposition_header(True, f"{name}.zip"))
    response["Cache-Control"] = "private, no-store"
    # A proxy that keeps it until it is whole would keep the browser waiting.
    response["X-Accel-Buffering"] = "no"
    return response
