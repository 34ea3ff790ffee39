import pytest
from django.db import OperationalError

from dispatch import health
from dispatch.capacity.scripts import CapacityUnavailable
from dispatch.models import TickReport
from dispatch.tick import run_tick

pytestmark = pytest.mark.django_db(transaction=True)


def ready(client):
    answer = client.get("/health/ready")
    return answer.status_code, answer.json()["problems"]


def test_46_readiness_is_200_only_while_ticks_run(client, hub):
    assert ready(client) == (503, {"tick": "No tick has ever run."})
    run_tick(hub)
    assert ready(client) == (200, {})
    TickReport.objects.update(created_at="2026-01-01T10:00:00Z")
    assert ready(client) == (503, {"tick": "No tick has run since 2026-01-01 10:00:00 UTC."})


def test_what_is_away_is_named_and_the_process_stays_live(client, hub, monkeypatch):
    run_tick(hub)

    def away():
        raise CapacityUnavailable("no route")

    monkeypatch.setattr(health, "ping", away)
    assert ready(client) == (503, {"redis": "Redis cannot be asked."})

    def gone(**_):
        raise OperationalError("no route")

    monkeypatch.setattr(TickReport.objects, "filter", gone)
    status, problems = ready(client)
    assert (status, set(problems)) == (503, {"redis", "tick"})
    assert client.get("/health/live").status_code == 200


def test_health_is_only_read(client):
    assert client.post("/health/ready").status_code == 405
