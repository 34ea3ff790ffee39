"""Texts of other parties may hold anything; the tick goes on, and the asset is bounded."""

import pytest

from dispatch.hubs.base import HubDeclined, HubRejected, HubUnavailable, SubmissionUnknown
from dispatch.models import Job, TickReport
from dispatch.tick import run_tick
from generation.models import Asset
from tests.factories.books import make_book
from tests.flows.asking import ask, image, states

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("kind", [HubDeclined, HubUnavailable, SubmissionUnknown, HubRejected])
@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "x" * 5000])
def test_a_tick_survives_any_word_of_the_hub_and_stores_its_report(kind, text, actor, hub):
    ask(make_book(scenes=1), actor)
    hub.answers = [kind(text)]
    report = run_tick(hub)
    assert len(report.errors) == 1
    assert TickReport.objects.latest("pk").report["errors"]


@pytest.mark.long
def test_a_word_that_cannot_be_stored_is_bounded_like_any_other(actor, hub):
    book = make_book(scenes=1)
    ask(book, actor)
    for _ in range(10):
        hub.answers = [HubDeclined("a\x00b")]
        run_tick(hub)
        Asset.objects.update(deferred_until=None)
        Job.objects.update(next_send_at=None)
    assert states(book) == ["failed"]


@pytest.mark.long
def test_a_refusal_that_does_not_run_on_is_counted_anew(actor, hub):
    ask(make_book(scenes=1), actor)
    for word in ("send_failed", "no_worker_available", "send_failed"):
        hub.answers = [HubDeclined(word)]
        run_tick(hub)
        Asset.objects.update(deferred_until=None)
    assert (image().refusal_reason, image().refusal_count) == ("send_failed", 1)
    run_tick(hub)
    assert (image().state, image().refusal_count) == ("generating", 0)
