"""The API: rows as JSON, commands by POST, refusals with our codes."""

import re

import pytest
from django.core.management import call_command
from django.test import Client

from generation.commands import cancel, pause, regenerate
from generation.models import Asset, Book, Command, ForceSet, LayerConfig, Target, Task
from tests.factories.artifacts import publish
from tests.factories.books import make_book
from tests.factories.bundles import bundle, chapter, scene
from tests.integration.calling import COMMANDS, account, api, book, error_of, get, post, scene_of, upload  # noqa: F401 - fixtures
from tests.snapshot import snapshot

pytestmark = pytest.mark.django_db


def test_a_book_and_its_list(api, book):
    response = get(api, f"books/{book.pk}/")
    assert (response.status_code, response.json()["key"], response.json()["cover"]) == (200, book.key, None)
    assert [row["id"] for row in get(api, "books/").json()["results"]] == [book.pk]


def test_a_long_list_comes_in_pages_without_a_gap_or_a_repeat(api):
    wanted = [make_book(scenes=1).pk for _ in range(7)]
    found, address = [], "/api/v1/books/?page_size=3"
    while address:
        page = api.get(address).json()
        found += [row["id"] for row in page["results"]]
        address = page["next"]
    assert found == wanted


def test_the_scenes_of_a_book_come_in_reading_order_with_their_assets_and_files(api, book):
    publish(Asset.objects.get(book=book, position=2, stage="image"))
    rows = get(api, f"books/{book.pk}/scenes/").json()["results"]
    assert [row["position"] for row in rows] == [1, 2, 3]
    image = next(asset for asset in rows[1]["assets"] if asset["stage"] == "image")
    assert (image["state"], image["files"][0]["content_type"]) == ("ready", "image/webp")
    assert api.get(image["files"][0]["url"]).status_code == 200
    assert get(api, f"scenes/{rows[1]['id']}/").json() == rows[1]
    ready = get(api, f"books/{book.pk}/scenes/?stage=image&state=ready").json()["results"]
    assert [row["position"] for row in ready] == [2]


def test_the_statements_of_a_list_do_not_grow_with_it(api, book, django_assert_num_queries):
    def scenes_cost(pk):
        with django_assert_num_queries(9):
            assert get(api, f"books/{pk}/scenes/").status_code == 200

    scenes_cost(book.pk)
    scenes_cost(make_book(scenes=40).pk)


def test_progress_counts_every_state(api, book):
    publish(Asset.objects.get(book=book, position=1, stage="image"))
    told = get(api, f"books/{book.pk}/progress/").json()
    assert (told["stages"]["image"]["ready"], told["stages"]["image"]["new"], told["stages"]["audio"]["new"]) == (
        1,
        2,
        3,
    )
    assert (told["unmade"], told["paused"]) == ({"audio": 0, "image": 0, "video": 0}, [])


def test_regenerate_answers_what_the_command_answers(api, book):
    response = post(
        api, f"books/{book.pk}/regenerate/", {"stages": ["image"], "scope": "scene", "ids": [scene_of(book)]}
    )
    told = response.json()
    assert (response.status_code, told["dry_run"], told["targets"]) == (200, False, 1)
    task = get(api, f"tasks/{told['tasks'][0]}/").json()
    assert (task["status"], task["counts"], task["command"], task["actor"]) == (
        "active",
        {"open": 1},
        "regenerate",
        "ada",
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_a_dry_run_says_what_would_happen_and_changes_no_row(name, api, book):
    before = snapshot()
    response = post(api, f"books/{book.pk}/{name}/", {"dry_run": True})
    assert (response.status_code, response.json()["dry_run"]) == (200, True)
    assert snapshot() == before


def test_the_same_idempotency_key_acts_once_and_another_body_is_a_conflict(api, book):
    headers = {"idempotency-key": "k1"}
    first = post(api, f"books/{book.pk}/regenerate/", {"stages": ["image"]}, **headers)
    again = post(api, f"books/{book.pk}/regenerate/", {"stages": ["image"]}, **headers)
    assert first.json() == again.json()
    assert (Command.objects.count(), Task.objects.count()) == (1, 1)
    other = post(api, f"books/{book.pk}/regenerate/", {"stages": ["audio"]}, **headers)
    assert (other.status_code, error_of(other)["code"]) == (409, "idempotency_conflict")


def test_stop_retry_pause_and_resume(api, book):
    post(api, f"books/{book.pk}/regenerate/", {"stages": ["image"]})
    assert post(api, f"books/{book.pk}/pause/", {"why": "lunch"}).json()["queued"] == 3
    assert get(api, f"books/{book.pk}/progress/").json()["paused"] == ["Audio, image, video paused by ada: lunch."]
    assert post(api, f"books/{book.pk}/resume/").json()["changes"] is True
    assert post(api, f"books/{book.pk}/cancel/").json()["queued"] == 3
    Asset.objects.filter(book=book, stage="image", position=1).update(state="failed")
    assert post(api, f"books/{book.pk}/retry/", {"which": "failed"}).json()["targets"] == 1


def test_layers_are_shown_and_switched(api, book):
    address = f"books/{book.pk}/layers/"
    assert [(row["stage"], row["enabled"]) for row in get(api, address).json()] == [
        ("audio", True),
        ("image", True),
        ("video", True),
    ]
    response = api.put(f"/api/v1/{address}video/", {"enabled": False}, format="json")
    assert response.json() == {"dry_run": False, "changes": True, "taken_back": 0}
    assert LayerConfig.objects.get(book=book, stage="video").enabled is False


def test_one_task_is_cancelled(api, book):
    tasks = post(api, f"books/{book.pk}/regenerate/").json()["tasks"]
    assert post(api, f"tasks/{tasks[0]}/cancel/").status_code == 200
    assert [row["id"] for row in get(api, f"tasks/?book={book.pk}&status=cancelled").json()["results"]] == tasks[:1]


def test_artifacts_with_their_files(api, book):
    artifact = publish(Asset.objects.get(book=book, position=2, stage="image"))
    (row,) = get(api, f"artifacts/?book={book.pk}&stage=image").json()["results"]
    assert (row["id"], row["scene"], row["version"], row["is_published"]) == (artifact.pk, scene_of(book, 2), 1, True)
    assert row["files"][0]["sha256"] == artifact.files.get().sha256


def test_a_file_becomes_a_book_and_changes_it_later(api):
    content = bundle(chapter("c1", scene("s1"), scene("s2", "Other words.")), id="whale")
    dry = upload(api, content, dry_run="true")
    assert (dry.status_code, dry.json()["scenes"], Book.objects.count()) == (200, 2, 0)
    made = upload(api, content, headers={"idempotency-key": "k"})
    assert (made.status_code, made.json()["key"], made.json()["book"]) == (201, "whale", Book.objects.get().pk)
    assert upload(api, content, headers={"idempotency-key": "k"}).json() == made.json()
    taken = upload(api, content)
    assert (taken.status_code, error_of(taken)["code"]) == (409, "key_taken")
    changed = upload(api, bundle(chapter("c1", scene("s1")), id="whale"), update="true")
    assert (changed.json()["kept"], changed.json()["deleted"]) == (1, 1)
    assert not Target.objects.exists()


def test_a_session_begins_with_name_and_password_and_a_command_needs_its_token(book):
    account("ada", "view_book", "operate_book")
    client = Client(enforce_csrf_checks=True)
    wrong = client.post("/api/v1/session/", {"username": "ada", "password": "x"}, content_type="application/json")
    assert (wrong.status_code, error_of(wrong)["code"]) == (401, "authentication_failed")
    body = {"username": "ada", "password": "a long password"}
    token = client.post("/api/v1/session/", body, content_type="application/json").json()["csrf_token"]
    assert client.get("/api/v1/session/").json()["username"] == "ada"
    address = f"/api/v1/books/{book.pk}/regenerate/"
    refused = client.post(address, {}, content_type="application/json")
    assert (refused.status_code, error_of(refused)["code"]) == (403, "permission_denied")
    assert not ForceSet.objects.exists()
    allowed = client.post(address, {}, content_type="application/json", headers={"x-csrftoken": token})
    assert allowed.status_code == 200
    assert client.delete("/api/v1/session/", headers={"x-csrftoken": token}).status_code == 204
    assert client.get("/api/v1/session/").status_code == 401


def test_the_schema_describes_every_address_without_a_warning(capsys):
    call_command("spectacular", "--validate", "--fail-on-warn")
    schema = capsys.readouterr().out
    for name in COMMANDS:
        assert f"/api/v1/books/{{id}}/{name}/" in schema
    assert "#/components/schemas/Error" in schema


def test_the_pages_of_the_schema_ask_no_other_host(api):
    page = get(api, "docs/")
    assert page.status_code == 200
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page.content.decode())
    assert "/static/drf_spectacular_sidecar/" in page.content.decode()


def test_every_command_of_the_api_gives_what_the_same_command_gives_elsewhere(api, book, actor):
    requests = {
        "regenerate": (regenerate, regenerate.Request(book.pk)),
        "cancel": (cancel, cancel.Request(book.pk)),
        "pause": (pause, pause.Request(pause.Level.BOOK, True, book.pk)),
    }
    for name, (command, request) in requests.items():
        planned = command.plan(request).answer()
        assert post(api, f"books/{book.pk}/{name}/", {"dry_run": True}).json() == {"dry_run": True, **planned}
