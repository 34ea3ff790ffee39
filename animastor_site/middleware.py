from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest


def refuse_null_characters(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Answer 400 to an address with a NUL: PostgreSQL keeps none, and the admin's filters would ask it all the same."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return HttpResponseBadRequest("The address contains a character that nothing here can have.")
        return get_response(request)

    return middleware
