from typing import Any

from django.contrib.auth import authenticate, login, logout
from django.middleware.csrf import get_token
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import ScopedRateThrottle
from rest_framework.views import APIView

from generation.strict import StrictSerializer

from .pages import StrictAddress


class Credentials(StrictSerializer):
    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=200, trim_whitespace=False)


class SessionBody(serializers.Serializer[Any]):
    username = serializers.CharField()
    csrf_token = serializers.CharField(help_text="to be sent as X-CSRFToken with everything that is not a GET")


class LoginThrottle(ScopedRateThrottle):
    def allow_request(self, request: Request, view: APIView) -> bool:
        return request.method != "POST" or super().allow_request(request, view)


class SessionView(StrictAddress, APIView):
    permission_classes = [AllowAny]
    throttle_classes = [LoginThrottle]
    throttle_scope = "login"

    @extend_schema(responses=SessionBody)
    def get(self, request: Request) -> Response:
        """Who is signed in."""
        if not request.user.is_authenticated:
            raise NotAuthenticated
        return self._shown(request)

    @extend_schema(request=Credentials, responses=SessionBody)
    def post(self, request: Request) -> Response:
        """Sign in; the cookie of the answer is the session."""
        body = Credentials(data=request.data)
        body.is_valid(raise_exception=True)
        user = authenticate(request, **body.validated_data)
        if user is None:
            raise AuthenticationFailed("The name or the password is wrong.")
        login(request, user)
        return self._shown(request)

    @extend_schema(responses={204: None})
    def delete(self, request: Request) -> Response:
        """Sign out."""
        logout(request)
        return Response(status=204)

    def _shown(self, request: Request) -> Response:
        return Response({"username": request.user.get_username(), "csrf_token": get_token(request)})
