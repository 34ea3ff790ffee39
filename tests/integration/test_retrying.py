import pytest

from dispatch.failures import Failure
from dispatch.models import Dispatch
from dispatch.results.accept import accept_error
from dispatch.tick import run_tick
from generation.commands import cancel, retry
from generation.commands.retry import Request, Which
from generation.models import Asset, Target, Task
from tests.doubles.pictures import deliver_all
from tests.factories.books import make_book
from tests.flows.asking import ask, states

pytestmark = pytest.mark.django_db(transaction=True)


def fail(position, reason="hub_rejected"):
    dispatch = Dispatch.objects.get(asset__position=position, status="active")
    accept_error(dispatch.dispatch_id, dispatch.jobs.get().job_id, "", Failure(reason))


@pytest.fixture
def book(actor, hub):
    """One ready, one failed for want of a file, one failed because the hub rejected it, one queued."""
    book = make_book(scenes=4)
    ask(book, actor)
    run_tick(hub)
    fail(2, "artifact_gone")
    fail(3, "hub_rejected")
    deliver_all()
    Asset.objects.filter(position=4, stage="image").update(state="new")
    Target.objects.filter(asset__position=4).update(status="cancelled")
    run_tick(hub)
    assert states(book) == ["ready", "failed", "failed", "new"]
    return book


@pytest.mark.long
def test_a_retry_asks_again_for_exactly_what_failed(book, actor, hub):
    assert retry.apply(Request(book.pk), actor)["stages"]["image"] == {"targets": 2, "skipped": {}}
    run_tick(hub)
    assert states(book) == ["ready", "generating", "generating", "new"]
    assert set(Asset.objects.filter(state="generating").values_list("retries_left", "failure_reason")) == {(10, "")}


def test_it_can_be_narrowed_to_one_reason(book, actor):
    assert retry.apply(Request(book.pk, reason="artifact_gone"), actor)["targets"] == 1
    assert states(book) == ["ready", "pending", "failed", "new"]
    assert retry.apply(Request(book.pk, which=Which.BLOCKED), actor)["targets"] == 0


def test_it_lifts_the_tombstone_of_what_it_asks_for(book, actor, hub):
    cancel.apply(cancel.Request(book.pk), actor)
    retry.apply(Request(book.pk, ("image",)), actor)
    run_tick(hub)
    assert states(book) == ["ready", "generating", "generating", "new"]


def test_a_blocked_task_goes_on_only_after_a_retry(actor, hub):
    book = make_book(scenes=2)
    hub.worker_counts["image"] = 0
    ask(book, actor)
    run_tick(hub)
    assert Task.objects.get().reason == "no_worker:image"
    hub.worker_counts["image"] = 1
    run_tick(hub)
    assert hub.submissions == []
    answer = retry.apply(Request(book.pk, which=Which.BLOCKED, reason="no_worker:image"), actor)
    assert answer["targets"] == 2
    run_tick(hub)
    assert states(book) == ["generating", "generating"]
    old, new = Task.objects.order_by("pk")
    assert (old.status, old.counts, new.status) == ("completed", {"superseded": 2}, "active")
