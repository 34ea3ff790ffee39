"""Why something does not run: every check in order, with numbers and what would change it."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Now
from rest_framework.test import APIClient

from dispatch.capacity.scripts import CapacityUnavailable, client
from dispatch.explain import DETAILS, explain
from dispatch.models import StageWorkers
from dispatch.tick import run_tick
from generation import gate
from generation.commands import cancel, layers, limits, pause, priority, regenerate
from generation.commands.scopes import Scope
from generation.models import Asset, Task
from tests.factories.artifacts import publish
from tests.factories.books import make_book
from tests.flows.asking import ask
from tests.integration.calling import account

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def book():
    return make_book(scenes=3)


@pytest.fixture(autouse=True)
def workers():
    for stage in ("audio", "image", "video"):
        StageWorkers.objects.create(stage=stage, count=1)


def asset(book, stage="image", position=1) -> Asset:
    return Asset.objects.get(book=book, stage=stage, position=position)


def reasons(book, stage="image", position=1) -> list[str]:
    return [reason.reason for reason in explain(asset(book, stage, position))]


def test_every_reason_of_the_gate_has_words():
    for check in gate.MAY_START:
        assert check.reason.partition(":")[0] in DETAILS


def test_what_nobody_asked_for_says_so(book):
    assert reasons(book) == ["no_active_task"]


def test_what_is_ready_has_nothing_to_explain(book):
    publish(asset(book))
    assert reasons(book) == []


def test_what_is_next_says_its_place_in_the_stage_and_in_its_book(book, actor):
    other = make_book(scenes=2)
    for one in (book, other):
        ask(one, actor)
    (reason,) = explain(asset(book, position=3))
    assert reason.reason == "next"
    assert (reason.numbers["place"], reason.numbers["place_in_book"]) == (5, 3)
    assert (reason.numbers["quota"], reason.numbers["in_use"]) == (4, 0)
    priority.apply(priority.Request(book.pk, ("image",), Scope.SCENE, (asset(book, position=3).scene_id,)), actor)
    (reason,) = explain(asset(book, position=3))
    assert reason.numbers["place_in_book"] == 1


def test_a_full_quota_names_its_holders(book, actor, hub):
    limits.apply_quota(limits.QuotaRequest("image", 1), actor)
    ask(book, actor)
    run_tick(hub)
    quota = next(reason for reason in explain(asset(book, position=2)) if reason.reason == "quota")
    assert quota.numbers["holders"] == [asset(book).pk]
    assert (quota.numbers["quota"], quota.numbers["in_use"]) == (1, 1)
    (running,) = explain(asset(book))
    assert (running.reason, running.words) == ("running", "It is handed over and waits for a worker.")


def test_all_that_holds_is_told_in_the_order_of_the_gate(book, actor):
    ask(book, actor)
    pause.apply(pause.Request(pause.Level.BOOK, True, book.pk, why="lunch"), actor)
    Asset.objects.filter(book=book).update(
        deferred_until=Now() + timedelta(seconds=90), deferral_reason="retry_backoff"
    )
    StageWorkers.objects.update(count=0)
    paused, deferred, worker = explain(asset(book))
    assert [one.reason for one in (paused, deferred, worker)] == ["paused", "deferred", "no_worker"]
    assert paused.words == f"Paused: this book by {actor.name}: lunch."
    assert 80 <= deferred.numbers["seconds"] <= 90
    assert worker.remedy == "Start one: manage.py rqworker gpu-image."


def test_a_stop_a_switched_layer_and_a_blocked_task_say_by_whom_and_what_to_do(book, actor):
    ask(book, actor)
    Task.objects.update(status="blocked", reason="no_worker:image")
    blocked = explain(asset(book))[0]
    assert (blocked.reason, blocked.words) == ("blocked", "Its task is blocked: no worker: image.")
    cancel.apply(cancel.Request(book.pk), actor)
    stopped = explain(asset(book))[0]
    assert (stopped.reason, stopped.numbers["by"]) == ("cancelled", actor.name)
    layers.apply(layers.Request(book.pk, "image", enabled=False), actor)
    assert "layer_disabled" in reasons(book)


def test_a_video_says_what_it_waits_for_and_what_it_needs(book, actor):
    assert reasons(book, "video") == ["no_active_task", "needs_image"]
    regenerate.apply(regenerate.Request(book.pk), actor)
    assert reasons(book, "video")[:2] == ["waiting_for:image", "waiting_for:audio"]
    assert explain(asset(book, "video"))[0].numbers == {"state": "pending"}


def test_a_failure_says_its_cause_first(book):
    Asset.objects.filter(pk=asset(book).pk).update(
        state="failed", failure_reason="no_voice", failure_message="No voice."
    )
    assert [(one.reason, one.words) for one in explain(asset(book))][0] == ("failed", "It failed: No voice.")


def test_terminal_api_and_admin_give_the_same_answer(book, actor, capsys, admin_client):
    ask(book, actor)
    expected = [reason.as_json() for reason in explain(asset(book))]
    call_command("tick", "--explain", book.key, "--scene", "1", "--stage", "image", "--json")
    assert json.loads(capsys.readouterr().out)["reasons"] == expected
    told = admin_client.get(f"/api/v1/scenes/{asset(book).scene_id}/explain/").json()
    assert next(one for one in told if one["stage"] == "image")["reasons"] == expected
    page = admin_client.get(f"/admin/generation/asset/{asset(book).pk}/change/").content.decode()
    assert expected[0]["words"] in page
    call_command("tick", "--explain", book.key)
    assert "1 image pending: It is number 1 of the stage" in capsys.readouterr().out


def test_what_cannot_be_explained_is_refused(book, admin_client):
    for arguments in (["nobody"], [book.key, "--scene", "99"]):
        with pytest.raises(CommandError):
            call_command("tick", "--explain", *arguments)
    assert admin_client.get("/api/v1/scenes/999999/explain/").status_code == 404
    client = APIClient()
    client.force_login(account("nobody"))
    assert client.get(f"/api/v1/scenes/{asset(book).scene_id}/explain/").status_code == 403


def test_a_queued_asset_whose_earlier_work_is_not_ended_and_a_changed_one_say_so(book, actor, hub):
    ask(book, actor)
    run_tick(hub)
    ask(book, actor, rebuild_all=True)
    assert reasons(book) == ["ending"]
    Asset.objects.filter(pk=asset(book).pk).update(state="dirty")
    assert reasons(book) == ["requeued"]


def test_a_lease_that_is_still_held_counts_as_in_use(book, actor):
    limits.apply_quota(limits.QuotaRequest("image", 1), actor)
    ask(book, actor)
    client().zadd("{animastor}:image:active", {"999": 1e12})
    assert reasons(book)[0] == "quota"


def test_where_only_retries_wait_the_first_of_them_is_the_next_test(book, actor):
    ask(book, actor)
    Asset.objects.filter(stage="image").update(retry_type="transient")
    client().hset("{animastor}:image:circuit", mapping={"opened": 1, "since": 1, "number": 1, "resets": 0})
    assert reasons(book) == ["next"]
    Asset.objects.filter(pk=asset(book, position=2).pk).update(retry_type="")
    assert reasons(book)[0] == "half_open_limit"
    assert reasons(book, position=2) == ["next"]


def test_while_redis_is_away_that_is_the_reason(book, actor, monkeypatch):
    ask(book, actor)

    def away(*_):
        raise CapacityUnavailable("no route")

    monkeypatch.setattr("dispatch.explain.admission.read_stage", away)
    assert reasons(book)[0] == "capacity_unavailable"


def test_a_quota_of_zero_is_no_queue(book, actor):
    limits.apply_quota(limits.QuotaRequest("image", 0), actor)
    ask(book, actor)
    told = explain(asset(book))
    assert [reason.words for reason in told][0] == "The quota of the stage is 0: nothing of it starts."
    assert told[-1].remedy == ""


def test_the_terminal_says_when_everything_is_ready_and_refuses_half_a_question(book, capsys):
    for one in Asset.objects.filter(book=book):
        publish(one)
    call_command("tick", "--explain", book.key)
    assert capsys.readouterr().out == "Everything of it is ready.\n"
    with pytest.raises(CommandError, match="go with --explain"):
        call_command("tick", "--scene", "1")
