"""Every reason of the outcomes table, really caused, and what follows from it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dispatch.hubs.base import HubDeclined
from dispatch.models import Dispatch, Job
from dispatch.outcomes import DEFERRABLE, OUTCOMES, Bucket, outcome_named
from dispatch.results.accept import claim
from dispatch.tick import run_tick
from generation import store
from generation.commands import edit
from generation.models import ArtifactFile, Asset, JournalEntry, Scene, Target
from tests.capacity import leases
from tests.factories.books import make_book
from tests.flows.asking import ask, image
from tests.flows.causing import CAUSES, again, declined, made

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def book(actor):
    book = make_book(scenes=1)
    ask(book, actor)
    return book


def test_every_reason_of_the_table_is_caused_here():
    assert set(OUTCOMES) <= set(CAUSES)


def deferred_s(asset) -> float:
    return (asset.deferred_until - timezone.now()).total_seconds() if asset.deferred_until else 0


@pytest.mark.parametrize("reason", CAUSES)
def test_what_follows_is_what_its_bucket_says_and_nothing_is_spent(reason, book, actor, hub, monkeypatch):
    CAUSES[reason](book, actor, hub, monkeypatch)
    asset, bucket = image(), outcome_named(reason).bucket
    assert asset.retries_left == 10
    match bucket:
        case Bucket.UNKNOWN:
            assert (asset.state, Dispatch.objects.get().status) == ("generating", "active")
            assert Job.objects.get().next_send_at - timezone.now() > timedelta(seconds=55)
            return
        case Bucket.CAPACITY:
            assert (asset.state, asset.deferral_reason, round(deferred_s(asset), -1)) == ("pending", reason, 60)
        case Bucket.FENCED if reason == "stale_intent":
            # The newer intent was selected at once, in the same run.
            assert (asset.state, asset.intent, deferred_s(asset)) == ("generating", 2, 0)
            return
        case Bucket.FENCED:
            assert (asset.deferral_reason, round(deferred_s(asset), -2)) == (reason, 900)
        case Bucket.IDEMPOTENT:
            assert (asset.state, Target.objects.get().status, Dispatch.objects.count()) == ("ready", "done", 1)
        case Bucket.WITHOUT_JOB if reason == "nothing_to_render":
            assert (asset.state, asset.failure_reason) == ("failed", reason)
            assert Target.objects.get().status == "failed"
        case Bucket.WITHOUT_JOB:
            assert (asset.state, Target.objects.latest("pk").status) == ("ready", "done")
        case Bucket.NEXT_TICK:
            assert (asset.state, asset.refusal_reason, asset.refusal_count) == ("pending", reason, 1)
            assert deferred_s(asset) == 0
    assert leases("image") == {}
    assert not Dispatch.objects.filter(status="active").exists()


@pytest.mark.long
def test_an_hour_of_deferrals_writes_no_journal_row(book, actor, hub):
    words = [reason for reason, outcome in OUTCOMES.items() if outcome.bucket in DEFERRABLE]
    before = JournalEntry.objects.count()
    for minute in range(60):
        Asset.objects.filter(stage="image").update(deferred_until=None)
        hub.answers = [HubDeclined(words[minute % len(words)])]
        report = run_tick(hub)
        assert (report.dispatched, report.errors) == (1, [])
    assert JournalEntry.objects.count() == before


def test_a_completed_order_without_its_file_waits_instead_of_being_made_twice(book, actor, hub):
    made(hub)
    store.storage().delete(ArtifactFile.objects.get().name)
    run_tick(hub)
    assert (image().state, image().deferral_reason) == ("pending", "already_completed")
    assert Dispatch.objects.count() == 1


@pytest.mark.parametrize("reason", ["already_ready", "cache_hit"])
def test_a_hub_that_has_it_without_our_having_it_is_only_counted(reason, book, actor, hub):
    hub.answers = [HubDeclined(reason)]
    run_tick(hub)
    assert (image().state, image().refusal_count) == ("pending", 1)


def test_a_worker_refuses_an_order_that_is_not_what_was_prepared(book, actor, hub):
    run_tick(hub)
    Job.objects.update(envelope={"scene": "another"})
    job = Job.objects.get()
    assert claim(job.dispatch.dispatch_id, job.job_id) == "dispatch_mismatch"
    assert (image().state, image().deferral_reason, image().retries_left) == ("pending", "intent_corrupt", 10)


def test_an_edit_ends_nothing_that_is_deferred(book, actor, hub):
    declined("no_worker_available")(book, actor, hub, None)
    edit.apply_text(edit.TextRequest(Scene.objects.get().pk, "Another text."), actor)
    run_tick(hub)
    assert image().deferral_reason == "no_worker_available"


def test_a_new_command_ends_a_deferral(book, actor, hub):
    declined("receipt_conflict")(book, actor, hub, None)
    again(book, actor)
    run_tick(hub)
    assert image().state == "generating"
