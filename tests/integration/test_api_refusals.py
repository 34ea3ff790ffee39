"""What the API refuses: a status, a code, words, and no row changed."""

import base64
import json

import pytest
from django.core.cache import cache
from rest_framework.test import APIClient

from generation.commands import layers
from generation.models import Asset, Book, Command
from tests.factories.artifacts import publish
from tests.integration.calling import COMMANDS, account, api, book, error_of, get, post, scene_of, upload  # noqa: F401 - fixtures
from tests.snapshot import snapshot

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("content", "name", "fields", "message"),
    [
        (b"", "x.txt", {}, "contains no text"),
        (b"PK\x03\x04", "x.epub", {}, "is no EPUB"),
        (b"Words.", "x.txt", {"encoding": "klingon"}, "no encoding called"),
        (b"Words.", "x.txt", {"key": "a\nb"}, "cannot be printed"),
        (b"Words.", "x.txt", {"kee": "x"}, "kee: This field is not known."),
    ],
)
def test_a_file_that_cannot_be_imported_is_refused_in_words(content, name, fields, message, api):
    response = upload(api, content, name, **fields)
    assert response.status_code == 400
    assert message in error_of(response)["message"]
    assert not Book.objects.exists()


def test_an_import_without_a_file_is_refused(api):
    response = api.post("/api/v1/imports/", {}, format="multipart")
    assert (response.status_code, error_of(response)["message"]) == (400, "file: No file was submitted.")


REFUSALS = [
    ({"stages": ["smell"]}, 400, "unknown_stage"),
    ({"stages": "image"}, 400, "invalid_request"),
    ({"stages": [["image"]]}, 400, "invalid_request"),
    ({"rebuild_al": True}, 400, "invalid_request"),
    ({"scope": "nowhere"}, 400, "invalid_request"),
    ({"scope": "scene"}, 400, "invalid_request"),
    ({"scope": "scene", "ids": [10**15]}, 404, "not_found"),
    ({"scope": "scene", "ids": [2**70]}, 404, "not_found"),
    ({"scope": "scene", "ids": ["x"]}, 400, "invalid_request"),
    ({"count": 0, "scope": "next_window"}, 400, "invalid_request"),
    ({"stages": ["\x00"]}, 400, "invalid_request"),
    ({"dry_run": "perhaps"}, 400, "invalid_request"),
    ([], 400, "invalid_request"),
    ("image", 400, "invalid_request"),
    (None, 400, "invalid_request"),
]


@pytest.mark.parametrize(("body", "status", "code"), REFUSALS)
def test_a_body_that_makes_no_sense_is_refused_with_a_code_and_changes_no_row(body, status, code, api, book):
    before = snapshot()
    response = api.post(f"/api/v1/books/{book.pk}/regenerate/", json.dumps(body), content_type="application/json")
    assert (response.status_code, error_of(response)["code"]) == (status, code)
    assert error_of(response)["message"]
    assert snapshot() == before


@pytest.mark.parametrize("body", ["{", "[" * 100_000, '{"stages": ["\\ud800"]}', "NaN", "\xff", '{"count": 1e999}'])
def test_a_body_that_is_no_json_is_refused(body, api, book):
    address = f"/api/v1/books/{book.pk}/regenerate/"
    response = api.post(address, body.encode("latin-1"), content_type="application/json")
    assert response.status_code == 400
    assert error_of(response)["code"] in {"parse_error", "invalid_request"}
    assert not Command.objects.exists()


@pytest.mark.parametrize("key", ["", "k" * 201])
def test_a_key_that_cannot_be_one_is_refused(key, api, book):
    response = post(api, f"books/{book.pk}/regenerate/", **{"idempotency-key": key})
    assert (response.status_code, error_of(response)["code"]) == (400, "invalid_request")


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("pk", [10**12, 2**70, 0])
def test_a_command_on_a_book_that_is_not_there_is_not_found(name, pk, api):
    response = post(api, f"books/{pk}/{name}/")
    assert (response.status_code, error_of(response)["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "address",
    [
        "books/999999/",
        f"books/{2**70}/",
        "books/999999/scenes/",
        f"books/{2**70}/progress/",
        "books/999999/layers/",
        "scenes/999999/",
        "tasks/999999/",
        "artifacts/999999/",
        "books/x/",
        "nowhere/",
        "",
    ],
)
def test_what_is_not_there_is_not_found_in_json(address, api):
    response = get(api, address)
    assert (response.status_code, error_of(response)["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "address",
    [
        "tasks/?stat=failed",
        "tasks/?status=lost",
        "tasks/?book=x",
        f"tasks/?book={2**70}&page_size=0",
        "books/?page_size=1000",
        "artifacts/?stage=smell",
    ],
)
def test_a_filter_that_is_not_known_is_refused(address, api):
    response = get(api, address)
    assert (response.status_code, error_of(response)["code"]) == (400, "invalid_request")


def test_a_filter_for_a_number_that_no_row_can_have_finds_nothing(api):
    assert get(api, f"tasks/?book={2**70}").json()["results"] == []
    assert get(api, f"artifacts/?scene={2**70}").json()["results"] == []


@pytest.mark.parametrize("place", ["nonsense", "p=abc", "p=", "p=1.5", "r=1&p=x", "p=%00", f"p={2**70}"])
def test_a_cursor_that_is_not_ours_is_refused(place, api, book):
    cursor = base64.b64encode(place.encode()).decode()
    for address in ("books/", "tasks/", "artifacts/", f"books/{book.pk}/scenes/"):
        response = api.get(f"/api/v1/{address}", {"cursor": cursor})
        assert (response.status_code, error_of(response)["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "address",
    [
        "books/1/?foo=1",
        "books/1/progress/?foo=1",
        "books/1/layers/?stge=image",
        "books/1/export/?chapter=2",
        "session/?x=1",
    ],
)
def test_an_address_that_says_more_than_it_may_is_refused(address, api, book):
    assert get(api, address.replace("/1/", f"/{book.pk}/")).status_code == 400


def test_a_dry_run_that_is_asked_for_in_the_address_is_refused_and_not_a_real_one(api, book):
    before = snapshot()
    assert post(api, f"books/{book.pk}/regenerate/?dry_run=true").status_code == 400
    assert snapshot() == before


def test_a_client_cannot_choose_whom_the_limit_of_signing_in_is_for(settings):
    cache.clear()
    body = {"username": "a", "password": "b"}
    statuses = []
    for number in range(12):
        headers = {"x-forwarded-for": f"10.0.0.{number}"}
        statuses.append(APIClient().post("/api/v1/session/", body, format="json", headers=headers).status_code)
    cache.clear()
    assert statuses == [401] * 10 + [429] * 2


def test_files_and_texts_are_for_those_who_may_see_them(book):
    publish(Asset.objects.get(book=book, position=1, stage="image"))
    client = APIClient()
    client.force_login(account("reader", "view_book", "view_scene"))
    (row, *_) = get(client, f"books/{book.pk}/scenes/").json()["results"]
    assert [asset["files"] for asset in row["assets"]] == [[], [], []]
    client.force_login(account("viewer", "view_book", "view_artifact"))
    for address in ("export/", "layers/", "scenes/"):
        assert get(client, f"books/{book.pk}/{address}").status_code == 403


def test_a_method_that_is_not_there_is_refused(api, book):
    response = api.delete(f"/api/v1/books/{book.pk}/")
    assert (response.status_code, error_of(response)["code"]) == (405, "method_not_allowed")


def test_an_off_layer_is_a_conflict(api, book, actor):
    layers.apply(layers.Request(book.pk, "image", enabled=False), actor)
    response = post(api, f"books/{book.pk}/regenerate/", {"stages": ["image"]})
    assert (response.status_code, error_of(response)["code"]) == (409, "layer_disabled")


@pytest.mark.parametrize("name", COMMANDS)
def test_without_the_permission_a_command_is_forbidden_and_a_dry_run_is_not(name, book):
    client = APIClient()
    client.force_login(account("reader", "view_book"))
    before = snapshot()
    response = post(client, f"books/{book.pk}/{name}/")
    assert (response.status_code, error_of(response)["code"]) == (403, "permission_denied")
    assert post(client, f"books/{book.pk}/{name}/", {"dry_run": True}).status_code == 200
    assert snapshot() == before


@pytest.mark.parametrize("address", ["books/", "tasks/", "artifacts/", "books/1/progress/", "books/1/scenes/"])
def test_reading_needs_the_view_permission(address, book):
    client = APIClient()
    client.force_login(account("nobody"))
    response = get(client, address.replace("1", str(book.pk)))
    assert (response.status_code, error_of(response)["code"]) == (403, "permission_denied")
    assert post(client, f"books/{book.pk}/cancel/", {"dry_run": True}).status_code == 403
    assert upload(client, b"Words.", dry_run="true").status_code == 403


def test_those_who_are_not_signed_in_are_told_so(book):
    client = APIClient()
    for response in (get(client, "books/"), post(client, f"books/{book.pk}/regenerate/")):
        assert (response.status_code, error_of(response)["code"]) == (401, "not_authenticated")
    assert get(client, "schema/").status_code == 401
