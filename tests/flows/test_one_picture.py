from datetime import timedelta

import pytest
from django.db import connection

from dispatch.models import Dispatch, Job, TickReport
from dispatch.ring import ring
from dispatch.tick import run_tick
from generation.commands import cancel, regenerate
from generation.lifecycle import State
from generation.models import Asset, Target, Task
from tests.doubles.pictures import deliver_all
from tests.factories.books import images_of, make_book

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_regenerate_becomes_published_pictures_and_a_completed_task(hub, actor):
    book = make_book(scenes=2)
    answer = regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    assert answer["targets"] == 2
    report = run_tick(hub)
    assert (report.processed, report.dispatched, report.errors) == (2, 2, [])
    assert all(answer.accepted for answer in deliver_all())
    run_tick(hub)
    assert {asset.state for asset in images_of(book)} == {State.READY}
    assert Task.objects.get().status == Task.Status.COMPLETED
    assert Task.objects.get().counts == {Target.Status.DONE: 2}


def test_nothing_is_dispatched_without_a_command(hub):
    make_book(scenes=3)
    for _ in range(5):
        assert run_tick(hub).dispatched == 0
    assert not Dispatch.objects.exists()


def test_stop_all_ends_what_runs_and_clears_the_hub(hub, actor):
    book = make_book(scenes=2)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    run_tick(hub)
    assert len(hub.jobs) == 2
    cancel.apply(cancel.Request(book.pk), actor)
    run_tick(hub)
    assert hub.jobs == {}
    assert set(Asset.objects.values_list("state", flat=True)) == {State.NEW, State.DIRTY}
    assert set(Job.objects.values_list("status", flat=True)) == {Job.Status.DROPPED}


def test_a_tick_that_is_rung_meanwhile_runs_again_and_reports_what_all_its_rounds_did(hub, actor, settings):
    settings.ANIMASTOR = {"ring_gap": timedelta(0)}
    regenerate.apply(regenerate.Request(make_book(scenes=1).pk, ("image",)), actor)

    def ring_once(envelope):
        ring()
        connection.close()

    hub.on_submit = ring_once
    report = run_tick(hub)
    assert (report.processed, report.dispatched, report.total_active) == (1, 1, 1)
    assert TickReport.objects.count() == 2
