"""Every refusal as {"error": {"code", "message", "fields"}} with the right status."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from generation.exceptions import (
    Conflict,
    GenerationError,
    IdempotencyConflict,
    KeyTaken,
    LayerDisabled,
    NotFound,
    PermissionRefused,
    TransitionRefused,
)
from generation.strict import first_error

BAD_REQUEST = 400
STATUS: dict[type[GenerationError], int] = {
    PermissionRefused: 403,
    NotFound: 404,
    Conflict: 409,
    IdempotencyConflict: 409,
    KeyTaken: 409,
    LayerDisabled: 409,
    TransitionRefused: 409,
}
# Django's own words for what ours say otherwise.
SAID = {Http404: exceptions.NotFound, PermissionDenied: exceptions.PermissionDenied}


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer a refusal; None for anything else, which is a fault of ours."""
    if isinstance(error, GenerationError):
        return Response({"error": {"code": error.code, "message": str(error)}}, STATUS.get(type(error), BAD_REQUEST))
    error = next((ours() for theirs, ours in SAID.items() if isinstance(error, theirs)), error)
    response = exception_handler(error, context)
    if response is None or not isinstance(error, exceptions.APIException):
        return response
    if isinstance(error, exceptions.ValidationError):
        body = {"code": "invalid_request", "message": first_error(error.detail), "fields": error.detail}
    else:
        detail: Any = error.detail
        body = {"code": detail.code, "message": str(detail)}
    response.data = {"error": body}
    return response


def add_to_schema(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Name the body of refusals in every operation of the schema."""
    said = {
        "code": {"type": "string", "description": "stable; for programs"},
        "message": {"type": "string", "description": "for people"},
        "fields": {"type": "object", "additionalProperties": {}, "description": "what is wrong with which field"},
    }
    body = {"type": "object", "properties": said, "required": ["code", "message"]}
    result["components"]["schemas"]["Error"] = {"type": "object", "properties": {"error": body}, "required": ["error"]}
    error = {"$ref": "#/components/schemas/Error"}
    refused = {"description": "Refused; nothing was changed.", "content": {"application/json": {"schema": error}}}
    for path in result["paths"].values():
        for operation in path.values():
            operation["responses"]["default"] = refused
    return result
