"""Who may call, and what a request must be."""

from typing import Any

from drf_spectacular import authentication as authentication_schemes
from rest_framework import authentication, exceptions, parsers, permissions
from rest_framework.request import Request


class SessionAuthentication(authentication.SessionAuthentication):
    """Answers 401 to those who are not signed in; Django REST framework's own says 403 to them as well."""

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class SessionScheme(authentication_schemes.SessionScheme):  # type: ignore[no-untyped-call] # registers itself
    """How the schema describes it."""

    target_class = SessionAuthentication  # type: ignore[assignment]


class MayView(permissions.DjangoModelPermissions):
    """Reading needs the view permission. A command asks for its own permission itself."""

    perms_map = {
        "GET": ["%(app_label)s.view_%(model_name)s"],
        "HEAD": ["%(app_label)s.view_%(model_name)s"],
        "OPTIONS": [],
        "POST": [],
        "PUT": [],
        "PATCH": [],
        "DELETE": [],
    }


class JSONParser(parsers.JSONParser):
    """Also refuses what is nested deeper than Python goes."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise exceptions.ParseError("JSON parse error - it is nested too deeply.") from None
