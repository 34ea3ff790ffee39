"""Quotas and job timeouts: set by a command, told in the journal, obeyed by the next tick."""

import pytest
from django.contrib.auth.models import Permission, User

from dispatch.models import Dispatch, Job
from dispatch.tick import run_tick
from generation.commands import limits
from generation.models import JournalEntry, LayerConfig, StageConfig
from tests.factories.books import make_book
from tests.flows.asking import ask

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_next_tick_obeys_a_quota_and_a_lower_one_ends_nothing(actor, hub):
    ask(make_book(scenes=6), actor)
    limits.apply_quota(limits.QuotaRequest("image", 3), actor)
    run_tick(hub)
    assert Dispatch.objects.filter(status="active").count() == 3
    assert limits.apply_quota(limits.QuotaRequest("image", 0), actor) == {"changes": True, "was": 3, "becomes": 0}
    run_tick(hub)
    assert Dispatch.objects.filter(status="active").count() == 3
    limits.apply_quota(limits.QuotaRequest("image", 5), actor)
    run_tick(hub)
    assert Dispatch.objects.filter(status="active").count() == 5


def test_a_job_timeout_is_that_of_the_layer_until_it_is_taken_back(actor, hub):
    book = make_book(scenes=2)
    limits.apply_timeout(limits.TimeoutRequest(book.pk, "image", 90), actor)
    ask(book, actor)
    run_tick(hub)
    assert set(Job.objects.values_list("timeout_s", flat=True)) == {5400}
    told = limits.apply_timeout(limits.TimeoutRequest(book.pk, "image", None), actor)
    assert told == {"changes": True, "was": 90, "becomes": None}
    assert LayerConfig.objects.get(book=book, stage="image").job_timeout_min is None


def test_a_change_is_told_in_the_journal_once(actor):
    for _ in range(2):
        limits.apply_quota(limits.QuotaRequest("image", 9), actor)
    entry = JournalEntry.objects.get(event="quota")
    assert (entry.change, entry.reason, entry.actor) == ("4 → 9", "image", actor.name)


def test_the_admin_sets_a_quota_behind_a_confirmation_and_only_with_the_permission(client):
    StageConfig.objects.create(stage="image", quota=4)
    user = User.objects.create_user("ada", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_stageconfig"))
    client.force_login(user)
    address = "/admin/generation/stageconfig/"
    body = {"action": "set_quota", "_selected_action": ["image"], "quota": 6, "confirmed": "yes"}
    client.post(address, body)
    assert StageConfig.objects.get().quota == 4
    user.user_permissions.add(Permission.objects.get(codename="change_stageconfig"))
    client.force_login(User.objects.get(pk=user.pk))
    assert "4 becomes 6" in client.post(address, body | {"shown": "x"}).content.decode()
    client.post(address, body)
    assert StageConfig.objects.get().quota == 6
