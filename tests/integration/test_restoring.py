import pytest

from dispatch.models import Dispatch
from dispatch.tick import run_tick
from generation import store
from generation.commands import cancel, edit, regenerate, restore
from generation.exceptions import Conflict
from generation.models import Artifact, Asset, JournalEntry, Scene
from tests.doubles.pictures import deliver_all, store_picture
from tests.factories.books import make_book
from tests.flows.asking import ask, image, send

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def book(actor, hub):
    """One scene whose picture was made twice."""
    book = make_book(scenes=1)
    for _ in range(2):
        ask(book, actor, rebuild_all=True)
        run_tick(hub)
        deliver_all()
        run_tick(hub)
    assert image().published.version == 2
    return book


def version(number):
    return Artifact.objects.get(version=number)


@pytest.mark.long
def test_an_earlier_version_is_published_again(book, actor):
    assert restore.apply(restore.Request(version(1).pk), actor) == {"version": 1, "replaces": 2}
    assert (image().published.version, image().state) == (1, "ready")
    assert JournalEntry.objects.get(event="restore").change == "ready"


@pytest.mark.long
def test_what_is_not_current_is_shown_as_out_of_date(book, actor, hub):
    edit.apply_text(edit.TextRequest(book.scenes.get().pk, "Another text."), actor)
    ask(book, actor)
    run_tick(hub)
    deliver_all()
    run_tick(hub)
    restore.apply(restore.Request(version(1).pk), actor)
    assert (image().published.version, image().state) == (1, "dirty")
    assert JournalEntry.objects.get(event="restore").change == "ready → dirty"


@pytest.mark.long
def test_a_failed_asset_is_ready_again_with_proof(book, actor):
    Asset.objects.filter(pk=image().pk).update(state="failed", failure_reason="render_failed")
    restore.apply(restore.Request(version(1).pk), actor)
    assert (image().state, image().failure_reason) == ("ready", "")
    assert JournalEntry.objects.get(event="restore").change == "failed → pending → generating → ready"


@pytest.mark.long
def test_it_is_refused_until_the_tick_has_ended_what_was_stopped(book, actor, hub):
    ask(book, actor, rebuild_all=True)
    run_tick(hub)
    cancel.apply(cancel.Request(book.pk), actor)
    with pytest.raises(Conflict, match="stopped a moment ago"):
        restore.apply(restore.Request(version(1).pk), actor)
    run_tick(hub)
    restore.apply(restore.Request(version(1).pk), actor)
    assert (image().published.version, image().state) == (1, "ready")


@pytest.mark.long
def test_it_is_refused_while_the_asset_is_queued_or_generating(book, actor, hub):
    ask(book, actor, rebuild_all=True)
    for _ in range(2):
        with pytest.raises(Conflict):
            restore.apply(restore.Request(version(1).pk), actor)
        run_tick(hub)
    assert image().published.version == 2


@pytest.mark.long
def test_a_result_that_comes_after_it_does_not_win(book, actor, hub):
    ask(book, actor, rebuild_all=True)
    run_tick(hub)
    dispatch = Dispatch.objects.get(status="active")
    files = store_picture(dispatch)
    cancel.apply(cancel.Request(book.pk), actor)
    run_tick(hub)
    restore.apply(restore.Request(version(1).pk), actor)
    assert send(dispatch, files).rejection == "stale_dispatch"
    run_tick(hub)
    assert (image().published.version, image().state) == (1, "ready")


@pytest.mark.long
def test_what_is_made_from_it_is_compared_again(book, actor, hub):
    regenerate.apply(regenerate.Request(book.pk, ("video",)), actor)
    assert not Scene.objects.get().recheck
    restore.apply(restore.Request(version(1).pk), actor)
    assert Scene.objects.get().recheck


@pytest.mark.long
def test_a_version_whose_file_is_gone_is_refused(book, actor):
    store.storage().delete(version(1).files.get().name)
    for attempt in (restore.plan, lambda request: restore.apply(request, actor)):
        with pytest.raises(Conflict):
            attempt(restore.Request(version(1).pk))
    assert image().published.version == 2
