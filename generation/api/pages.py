"""Pages of lists, and the questions that narrow them."""

from typing import Any

from rest_framework import pagination, serializers
from rest_framework.request import Request

from generation.strict import StrictSerializer

PAGE, LARGEST_PAGE = 50, 200


class Pages(pagination.CursorPagination):
    """Pages of stable order, however many rows there are and whatever comes in between."""

    page_size = PAGE
    max_page_size = LARGEST_PAGE
    page_size_query_param = "page_size"


class Query(StrictSerializer):
    """What the address of a list may say. A misspelled filter is refused, not passed over."""

    cursor = serializers.CharField(required=False)
    page_size = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_PAGE)


def filters(query: type[Query], request: Request) -> dict[str, Any]:
    """Return the filters that the address names. Raises ValidationError."""
    checked = query(data=request.query_params.dict())
    checked.is_valid(raise_exception=True)
    return {name: value for name, value in checked.validated_data.items() if name not in Query().fields}
