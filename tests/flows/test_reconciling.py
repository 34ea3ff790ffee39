"""What the record, the files and the hub say differently is found, told once, and put right; nothing is started."""

import json
import os
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db.models.functions import Now

from dispatch.models import Dispatch, Part, ReconcileState
from dispatch.reconcile import CHECKS, reconcile, reconcile_if_due
from dispatch.tick import run_tick
from dispatch.tick.lease import LostTick, acquire
from generation import store
from generation.commands import cancel, delete, placeholder, regenerate
from generation.models import Asset, Book, Finding, JournalEntry, Target, Task
from tests.doubles.pictures import deliver_all, store_picture
from tests.factories.artifacts import add_version
from tests.factories.books import make_book
from tests.flows.asking import ask
from tests.flows.defects import CAUSES, file_of, lost_file, old, orphan, orphan_target, published, ready_without_rows
from tests.snapshot import snapshot

pytestmark = pytest.mark.django_db(transaction=True)

KINDS = [check.kind for check in CHECKS]


@pytest.fixture(autouse=True)
def installed() -> None:
    """A storage that some process has used: it has the id file."""
    store.verify_identity()


@pytest.fixture
def book():
    return make_book(scenes=2)


def test_every_kind_has_a_cause_here_words_and_a_fix():
    assert set(CAUSES) == set(KINDS)
    assert all(check.words and check.fix_words for check in CHECKS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_dry_run_finds_it_and_changes_nothing(kind, book, actor, hub):
    CAUSES[kind](book, actor, hub)
    before, jobs = snapshot(), dict(hub.jobs)
    report = reconcile(dry_run=True, hub=hub)
    assert report.found[kind] >= 1
    assert (report.fixed, report.incomplete) == ({}, {})
    after = snapshot()
    for table in ("TickLease", "ReconcileState"):
        before.pop(table, None), after.pop(table, None)
    assert (after, hub.jobs) == (before, jobs)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_found_is_put_right_once_and_asks_for_nothing(kind, book, actor, hub):
    CAUSES[kind](book, actor, hub)
    asked = Target.objects.filter(status="open").count()
    report = reconcile(hub=hub)
    assert report.fixed[kind] == report.found[kind] >= 1
    again = reconcile(hub=hub)
    assert kind not in again.fixed
    assert Target.objects.filter(status="open").count() <= asked


@pytest.mark.parametrize("kind", KINDS)
def test_a_finding_is_one_row_and_one_journal_entry_however_often_it_is_seen(kind, book, actor, hub, monkeypatch):
    CAUSES[kind](book, actor, hub)
    check = next(check for check in CHECKS if check.kind == kind)
    with monkeypatch.context() as patched:
        patched.setattr(type(check), "fix", lambda *_: 0)
        for _ in range(3):
            reconcile(hub=hub)
    findings = Finding.objects.filter(kind=kind)
    assert findings.filter(fixed_at__isnull=False).count() == 0
    assert findings.count() == JournalEntry.objects.filter(event="found", reason=kind).count() >= 1


def test_a_missing_file_makes_the_asset_out_of_date_and_the_finding_stays_until_it_is_made_again(book, actor, hub):
    lost_file(book, actor, hub)
    reconcile(hub=hub)
    assert Asset.objects.get(book=book, stage="image", position=1).state == "dirty"
    finding = Finding.objects.get()
    assert finding.fixed_at is None
    ask(book, actor)
    run_tick(hub)
    deliver_all()
    reconcile(hub=hub)
    finding.refresh_from_db()
    assert finding.fixed_at is not None


def test_06_a_stopped_book_with_a_missing_file_starts_nothing_however_often_it_is_looked_at(book, actor, hub):
    lost_file(book, actor, hub)
    cancel.apply(cancel.Request(book.pk), actor)
    for _ in range(3):
        reconcile(hub=hub)
        run_tick(hub)
    assert Dispatch.objects.count() == 0


def test_a_ready_asset_without_rows_of_files_becomes_out_of_date(book, actor, hub):
    ready_without_rows(book, actor, hub)
    assert reconcile(hub=hub).fixed == {"shown_without_proof": 1}


def test_what_was_published_meanwhile_is_left_alone(book, actor, hub, monkeypatch):
    asset = published(book)
    store.storage().delete(file_of(asset))
    check = next(check for check in CHECKS if check.kind == "published_file_missing")
    real = type(check).fix

    def fix_after_a_restore(self, scope, found):
        Asset.objects.filter(pk=asset.pk).update(published=add_version(asset, 2))
        return real(self, scope, found)

    monkeypatch.setattr(type(check), "fix", fix_after_a_restore)
    reconcile(hub=hub)
    assert Asset.objects.get(pk=asset.pk).state == "ready"


def test_a_file_is_kept_while_it_is_young_owned_or_may_become_a_result(book, actor, hub):
    owned = file_of(published(book))
    young = store.storage().save("uploads/young", ContentFile(b"x"))
    placeholder.apply(placeholder.Request(book.pk, ("audio",)), actor)
    ask(book, actor, "image", rebuild_all=True)
    run_tick(hub)
    dispatch = Dispatch.objects.first()
    coming = store_picture(dispatch)["main"].name
    part = store.storage().save(f"{dispatch.asset_pk}/{'a' * 32}-0001.flac", ContentFile(b"x"))
    Part.objects.create(asset=dispatch.asset, unit="0001", fingerprint="f", files={"main": {"name": part}})
    cover = store.storage().save("covers/front.png", ContentFile(b"x"))
    Book.objects.filter(pk=book.pk).update(cover=cover)
    stand_ins = list(Asset.objects.exclude(stand_in="").values_list("stand_in", flat=True))
    for name in (owned, coming, part, cover, *stand_ins):
        old(name)
    assert reconcile(hub=hub).found == {}
    assert all(store.storage().exists(name) for name in (owned, young, coming, part, cover, *stand_ins))
    old(young)
    assert reconcile(hub=hub).fixed == {"file_without_owner": 1}


def test_a_file_whose_name_no_row_could_keep_stops_no_check(book, actor, hub):
    folder = store.storage().path("7")
    os.makedirs(folder)
    for name in (b"x" * 250, b"\xff"):
        with open(os.path.join(os.fsencode(folder), name), "wb"):
            pass
        os.utime(os.path.join(os.fsencode(folder), name), (0, 0))
    orphan(book, actor, hub)
    assert reconcile(hub=hub).fixed == {"file_without_owner": 1}


def test_09_jobs_of_a_deleted_book_are_purged_and_those_of_another_stay(actor, hub):
    gone, other = make_book(scenes=1, key="import_12"), make_book(scenes=1, key="import_123")
    for book in (gone, other):
        ask(book, actor)
    run_tick(hub)
    held = dict(hub.jobs)
    delete.apply(delete.Request(delete.What.BOOK, (gone.pk,)), actor)
    run_tick(hub)
    hub.jobs.update(held)
    assert reconcile(hub=hub).fixed == {"job_of_ended_dispatch": 1}
    assert [ref.job_id.split("_")[0] for ref in hub.jobs] == [f"b{other.pk}"]


def test_one_book_can_be_looked_at_alone(actor, hub):
    books = [make_book(scenes=1), make_book(scenes=1)]
    for book in books:
        lost_file(book, actor, hub)
    assert reconcile(books[0].pk, hub=hub).found == {"published_file_missing": 1}
    states = [Asset.objects.get(book=book, stage="image").state for book in books]
    assert states == ["dirty", "ready"]


def test_a_hub_that_is_away_ends_only_its_own_checks(book, actor, hub):
    lost_file(book, actor, hub)
    hub.down = True
    report = reconcile(hub=hub)
    assert set(report.incomplete) == {"result_not_delivered", "job_of_ended_dispatch"}
    assert report.fixed == {"published_file_missing": 1}


@pytest.mark.parametrize("broken", KINDS)
def test_a_check_that_fails_ends_no_other_and_the_loss_of_the_lease_ends_all(broken, book, actor, hub, monkeypatch):
    check = next(check for check in CHECKS if check.kind == broken)
    other = "published_file_missing" if broken != "published_file_missing" else "file_without_owner"
    CAUSES[other](book, actor, hub)

    def fail(*_):
        raise error

    monkeypatch.setattr(type(check), "find", fail)
    error = RuntimeError("a fault")
    report = reconcile(hub=hub)
    assert (report.incomplete, report.fixed[other]) == ({broken: "RuntimeError('a fault')"}, 1)
    error = LostTick()
    with pytest.raises(LostTick):
        reconcile(hub=hub)


def test_a_storage_that_is_not_mounted_says_nothing_of_its_files(book, actor, hub, settings, tmp_path):
    published(book)
    settings.ARTIFACT_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "artifacts": {**settings.STORAGES["artifacts"], "OPTIONS": {"location": tmp_path, "base_url": None}},
    }
    report = reconcile(hub=hub)
    assert set(report.incomplete) == {"published_file_missing", "shown_without_proof", "file_without_owner"}
    assert Asset.objects.filter(state="ready").count() == 1


def test_while_a_tick_runs_nothing_is_looked_at(hub, monkeypatch):
    monkeypatch.setattr("dispatch.reconcile.WAIT_FOR_TICK_S", 0.0)
    held = acquire()
    assert reconcile(hub=hub) is None
    assert reconcile_if_due(hub) is None
    held.release()


def test_a_periodic_pass_comes_once_a_minute_and_goes_through_the_files_slice_by_slice(actor, hub, monkeypatch):
    book = make_book(scenes=6)
    for position in range(1, 7):
        store.storage().delete(file_of(published(book, position)))
    monkeypatch.setattr("dispatch.reconcile.missing_files.FILES_PER_PASS", 4)
    monkeypatch.setattr("dispatch.reconcile.missing_files.BATCH", 2)
    assert reconcile_if_due(hub).found["published_file_missing"] == 4
    assert reconcile_if_due(hub) is None
    ReconcileState.objects.update(passed_at=Now() - timedelta(seconds=61))
    assert reconcile_if_due(hub).found["published_file_missing"] == 2
    ReconcileState.objects.update(passed_at=Now() - timedelta(seconds=61))
    assert reconcile_if_due(hub).found["published_file_missing"] == 4


def test_the_command_tells_and_says_when_not_everything_could_be_read(book, actor, hub, capsys, monkeypatch):
    monkeypatch.setattr("dispatch.reconcile.hub_named", lambda _: hub)
    lost_file(book, actor, hub)
    call_command("reconcile", "--dry-run", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["dry_run"], told["found"], told["fixed"]) == (True, {"published_file_missing": 1}, {})
    call_command("reconcile", "--book", book.key)
    assert "published_file_missing: 1." in capsys.readouterr().out
    hub.down = True
    with pytest.raises(CommandError, match="Not everything could be read"):
        call_command("reconcile")
    with pytest.raises(CommandError, match="no book 'nobody'"):
        call_command("reconcile", "--book", "nobody")


def test_a_regenerate_is_what_makes_it_again(book, actor, hub):
    lost_file(book, actor, hub)
    reconcile(hub=hub)
    assert regenerate.plan(regenerate.Request(book.pk, ("image",))).answer()["targets"] == 2


def test_a_task_that_waited_for_an_asset_that_is_gone_closes(actor, hub):
    book = make_book(scenes=1)
    orphan_target(book, actor, hub)
    run_tick(hub)
    assert Task.objects.get().status == "active"
    reconcile(hub=hub)
    run_tick(hub)
    assert (Task.objects.get().status, Target.objects.count()) == ("completed", 0)
