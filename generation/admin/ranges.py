"""Sending a stored file, whole or in part: without parts (206) no browser can seek in a video."""

import re
from collections.abc import Iterator
from typing import IO
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified, StreamingHttpResponse

from generation import store

CHUNK_BYTES = 256 * 1024
ONE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


class Unsatisfiable(Exception):
    """The range begins after the end of the file."""


def send_file(request: HttpRequest, name: str, content_type: str, etag: str) -> HttpResponseBase:
    """Answer with the file `name` of the artifact store: 200, 206 for one range, 304, or 416.

    `etag` is the strong validator of the content. With ARTIFACT_ACCEL_PREFIX set, the web server in front sends the
    file and the ranges. Raises FileNotFoundError.
    """
    tag = f'"{etag}"'
    if tag in request.headers.get("If-None-Match", ""):
        return _labelled(HttpResponseNotModified(), tag)
    if settings.ARTIFACT_ACCEL_PREFIX:
        passed_on = HttpResponse(content_type=content_type)
        passed_on["X-Accel-Redirect"] = quote(f"{settings.ARTIFACT_ACCEL_PREFIX.rstrip('/')}/{name}")
        return _labelled(passed_on, tag)
    size = store.storage().size(name)
    asked = request.headers.get("Range", "") if request.method == "GET" else ""
    # A range of another version of the file would be stitched to the wrong part.
    if request.headers.get("If-Range", tag) != tag:
        asked = ""
    try:
        wanted = parse_range(asked, size)
    except Unsatisfiable:
        refused = HttpResponse(status=416)
        refused["Content-Range"] = f"bytes */{size}"
        return _labelled(refused, tag)
    start, end = wanted or (0, size - 1)
    content = _chunks(store.open_file(name), start, end - start + 1)
    response = StreamingHttpResponse(content, status=206 if wanted else 200, content_type=content_type)
    response["Content-Length"] = str(end - start + 1)
    if wanted:
        response["Content-Range"] = f"bytes {start}-{end}/{size}"
    return _labelled(response, tag)


def parse_range(header: str, size: int) -> tuple[int, int] | None:
    """Return first and last byte of the one range asked for; None for no range, several, or no sense: send it whole.

    Raises Unsatisfiable when no byte of the file is in it.
    """
    match = ONE_RANGE.fullmatch(header.strip())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        if int(last) == 0 or size == 0:
            raise Unsatisfiable
        return (max(0, size - int(last)), size - 1)
    start, end = int(first), min(int(last), size - 1) if last else size - 1
    if last and int(last) < start:
        return None
    if start >= size:
        raise Unsatisfiable
    return (start, end)


def _chunks(file: IO[bytes], start: int, length: int) -> Iterator[bytes]:
    with file:
        file.seek(start)
        while length > 0 and (chunk := file.read(min(CHUNK_BYTES, length))):
            length -= len(chunk)
            yield chunk


def _labelled(response: HttpResponseBase, tag: str) -> HttpResponseBase:
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = tag
    return response
