"""Parts of a narration that are lost or damaged are made again alone."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models.functions import Now

from dispatch.models import Dispatch, Part
from dispatch.results.assemble import Ending, assemble
from dispatch.retention import prune
from dispatch.tick import run_tick
from generation import store
from generation.commands import cancel
from generation.models import Asset
from tests.doubles.parts import deliver_part, heard
from tests.flows.asking import ask, stored_files
from tests.flows.narration import PARTS, audio, book, deliver_all_parts, dispatch, published, units  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db(transaction=True)


def lost_file(part):
    store.storage().delete(part.files["main"]["name"])


def damaged_file(part):
    name = part.files["main"]["name"]
    store.storage().delete(name)
    store.storage().save(name, store.ContentFile(b"rust" * 1000))


@pytest.mark.long
@pytest.mark.parametrize("harm", [lost_file, damaged_file])
def test_a_lost_part_is_asked_for_alone(harm, dispatch, hub):
    deliver_all_parts(dispatch)
    harm(Part.objects.get(unit="0003"))
    assert assemble(dispatch.dispatch_id) == Ending.PARTS_LOST
    assert (audio().state, audio().retries_left) == ("pending", 9)
    Asset.objects.update(deferred_until=None)
    run_tick(hub)
    second = Dispatch.objects.get(status="active")
    assert units(second) == ["0003"]
    deliver_all_parts(second)
    assert assemble(second.dispatch_id) == Ending.PUBLISHED
    assert heard(published()["main"], PARTS) == [1, 2, 3, 4, 5]


@pytest.mark.long
def test_a_part_lost_before_its_dispatch_is_noticed_when_the_next_is_prepared(dispatch, book, actor, hub):
    deliver_all_parts(dispatch)
    cancel.apply(cancel.Request(book.pk), actor)
    run_tick(hub)
    lost_file(Part.objects.get(unit="0002"))
    ask(book, actor, "audio")
    run_tick(hub)
    assert units(Dispatch.objects.get(status="active")) == ["0002"]


@pytest.mark.long
def test_parts_that_vanish_while_others_are_made_end_the_dispatch_and_are_asked_for_alone(dispatch, hub):
    for unit in units(dispatch)[:-1]:
        deliver_part(dispatch, unit)
    Part.objects.filter(unit="0002").delete()
    deliver_part(dispatch, "0005")
    dispatch.refresh_from_db()
    assert (dispatch.status, dispatch.reason) == ("failed", "part_lost")
    Asset.objects.update(deferred_until=None)
    run_tick(hub)
    assert units(Dispatch.objects.get(status="active")) == ["0002"]


def test_parts_that_a_dispatch_counts_on_are_not_pruned(dispatch):
    deliver_part(dispatch, "0001")
    Part.objects.update(created_at=Now() - timedelta(days=40))
    with transaction.atomic():
        assert prune()["parts"] == 0


def test_several_damaged_parts_cost_one_retry_and_leave_no_file(dispatch):
    deliver_all_parts(dispatch)
    for unit in ("0001", "0003", "0005"):
        damaged_file(Part.objects.get(unit=unit))
    assert assemble(dispatch.dispatch_id) == Ending.PARTS_LOST
    assert (audio().retries_left, Part.objects.count(), len(stored_files())) == (9, 2, 4)


def test_a_storage_that_cannot_be_asked_loses_no_part(dispatch, book, actor, hub, monkeypatch):
    deliver_part(dispatch, "0001")
    cancel.apply(cancel.Request(book.pk), actor)
    run_tick(hub)
    ask(book, actor, "audio")
    with monkeypatch.context() as patch:

        def away(*_):
            raise OSError("the share is away")

        patch.setattr(store.storage(), "exists", away)
        run_tick(hub)
    assert units(Dispatch.objects.get(status="active")) == ["0002", "0003", "0004", "0005"]
