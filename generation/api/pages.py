"""Pages of lists, and the questions that narrow them."""

import re
from collections.abc import Mapping
from typing import Any

from rest_framework import exceptions, pagination, serializers
from rest_framework.request import Request

from generation.strict import StrictSerializer

PAGE, LARGEST_PAGE = 50, 200
# What a key or a place can be; longer ones are no row's.
PLACE = re.compile(r"[0-9]{1,18}")


class Pages(pagination.CursorPagination):
    """Pages of stable order, however many rows there are and whatever comes in between. The order is by a number."""

    page_size = PAGE
    max_page_size = LARGEST_PAGE
    page_size_query_param = "page_size"

    def decode_cursor(self, request: Request) -> Any:
        """Raises NotFound also for a cursor whose place is no number: it is not one of ours."""
        cursor = super().decode_cursor(request)
        if cursor is None:
            return None
        says_nothing = cursor.position is None and not cursor.reverse and not cursor.offset
        if says_nothing or (cursor.position is not None and not PLACE.fullmatch(str(cursor.position))):
            raise exceptions.NotFound(self.invalid_cursor_message)
        return cursor


class Query(StrictSerializer):
    """What an address may say behind its question mark: nothing, until a subclass names something."""


class PageQuery(Query):
    """What the address of a list may say. A misspelled filter is refused, not passed over."""

    cursor = serializers.CharField(required=False)
    page_size = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_PAGE)


def filters(query: type[Query], request: Request) -> dict[str, Any]:
    """Return the filters that the address names. Raises ValidationError."""
    checked = query(data=request.query_params.dict())
    checked.is_valid(raise_exception=True)
    return {name: value for name, value in checked.validated_data.items() if name not in PageQuery().fields}


class StrictAddress:
    """A view whose address may only say what `queries` names for its action or method; by default nothing."""

    queries: Mapping[str, type[Query]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)  # type: ignore[misc]
        name = getattr(self, "action", None) or (request.method or "").lower()
        filters(self.queries.get(name, Query), request)
