"""Stages through the API: quota, circuit, pause."""

import pytest
from rest_framework.test import APIClient

from generation.models import Command, JournalEntry, StageConfig
from tests.integration.calling import account, api, error_of, get, post  # noqa: F401 - fixtures
from tests.snapshot import snapshot

pytestmark = pytest.mark.django_db

COMMANDS = [("quota", {"quota": 7}), ("reset_circuit", {}), ("pause", {"why": "a visit"}), ("resume", {})]


def test_every_stage_is_listed_with_its_quota_and_pause(api):
    post(api, "stages/image/quota/", {"quota": 7})
    post(api, "stages/video/pause/", {"why": "a visit"})
    told = {row["stage"]: row for row in get(api, "stages/").json()}
    assert [(name, row["quota"]) for name, row in told.items()] == [("audio", 8), ("image", 7), ("video", 2)]
    assert (told["video"]["paused_by"], told["video"]["paused_why"]) == ("ada", "a visit")


def test_a_quota_is_a_command_with_a_dry_run_and_a_key(api):
    planned = post(api, "stages/image/quota/", {"quota": 7, "dry_run": True})
    assert planned.json() == {"dry_run": True, "changes": True, "was": 4, "becomes": 7}
    assert not StageConfig.objects.exists()
    for _ in range(2):
        answer = post(api, "stages/image/quota/", {"quota": 7}, **{"Idempotency-Key": "k"})
        assert answer.json() == {"dry_run": False, "changes": True, "was": 4, "becomes": 7}
    assert Command.objects.count() == 1


def test_a_circuit_is_reset_and_that_is_told(api):
    assert post(api, "stages/audio/reset_circuit/").json() == {"dry_run": False, "stage": "audio"}
    assert StageConfig.objects.get(stage="audio").circuit_resets == 1
    assert JournalEntry.objects.get(event="circuit_reset").actor == "ada"


@pytest.mark.parametrize(("name", "body"), COMMANDS)
def test_without_the_permission_or_of_an_unknown_stage_nothing_changes(name, body, api):
    viewer = APIClient()
    viewer.force_login(account("eve", "view_book", "view_stageconfig"))
    before = snapshot()
    refused = post(viewer, f"stages/image/{name}/", body)
    assert (refused.status_code, error_of(refused)["code"]) == (403, "permission_denied")
    unknown = post(api, f"stages/smell/{name}/", body)
    assert (unknown.status_code, error_of(unknown)["code"]) == (400, "unknown_stage")
    assert snapshot() == before


@pytest.mark.parametrize("quota", [-1, 1001, 2**70, "many", None])
def test_a_quota_that_cannot_be_is_refused(quota, api):
    assert post(api, "stages/image/quota/", {"quota": quota}).status_code == 400
    assert not StageConfig.objects.exists()


def test_who_is_not_signed_in_or_may_not_look_sees_nothing():
    assert APIClient().get("/api/v1/stages/").status_code == 401
    stranger = APIClient()
    stranger.force_login(account("bob"))
    assert stranger.get("/api/v1/stages/").status_code == 403
