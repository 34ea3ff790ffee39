"""Calls of the API."""

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from tests.factories.books import make_book

COMMANDS = ("regenerate", "retry", "cancel", "pause", "resume")


def account(name, *permissions):
    user = User.objects.create_user(name, password="a long password")  # noqa: S106 - of a test
    user.user_permissions.add(*Permission.objects.filter(codename__in=permissions))
    return user


@pytest.fixture
def api():
    """A client of somebody who may see and do everything."""
    names = Permission.objects.filter(content_type__app_label="generation").values_list("codename", flat=True)
    client = APIClient()
    client.force_login(account("ada", *names))
    return client


@pytest.fixture
def book():
    return make_book(scenes=3)


def post(api, address, body=None, **headers):
    return api.post(f"/api/v1/{address}", body or {}, format="json", headers=headers)


def get(api, address):
    return api.get(f"/api/v1/{address}")


def error_of(response):
    return response.json()["error"]


def scene_of(book, position=1):
    return book.scenes.get(position=position).pk


def upload(api, content, name="whale.zip", headers=None, **fields):
    body = {"file": SimpleUploadedFile(name, content), **fields}
    return api.post("/api/v1/imports/", body, format="multipart", headers=headers or {})
