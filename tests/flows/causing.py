"""How each reason of the outcomes table comes about; every cause takes (book, actor, hub, monkeypatch)."""

from collections.abc import Callable

from dispatch.hubs.base import HubDeclined, HubUnavailable, SubmissionUnknown
from dispatch.models import Job
from dispatch.tick import orders, prepare, run_tick, submit
from generation.commands import edit, regenerate
from generation.models import Asset, Target, Task
from tests.doubles.pictures import deliver_all
from tests.flows.asking import ask, image


def declined(reason: str) -> Callable:
    def cause(book, actor, hub, monkeypatch):
        hub.answers = [HubDeclined(reason)]
        run_tick(hub)

    return cause


def unknown(reason: str) -> Callable:
    def cause(book, actor, hub, monkeypatch):
        hub.answers = [SubmissionUnknown("the answer was lost", reason)]
        run_tick(hub)

    return cause


def before_prepare(monkeypatch, act) -> None:
    """Do `act` between the admission and the transaction of the first prepare, as another process would."""
    prepare_book = prepare._prepare_book
    todo = [act]

    def acted_first(*args):
        while todo:
            todo.pop()()
        return prepare_book(*args)

    monkeypatch.setattr(prepare, "_prepare_book", acted_first)


def at_prepare(act: Callable) -> Callable:
    def cause(book, actor, hub, monkeypatch):
        before_prepare(monkeypatch, lambda: act(book, actor))
        run_tick(hub)
        monkeypatch.undo()

    return cause


def made(hub):
    """Make the picture, then ask for it at the same intent again, as a record put together by hand would."""
    run_tick(hub)
    deliver_all()
    run_tick(hub)
    task = Task.objects.get()
    Task.objects.filter(pk=task.pk).update(status="active")
    Target.objects.update(status="open")
    Asset.objects.filter(pk=image().pk).update(state="pending")


def already_completed(book, actor, hub, monkeypatch):
    made(hub)
    run_tick(hub)


def corrupt(book, actor, hub, monkeypatch):
    monkeypatch.setattr(submit, "submit", lambda run: [])
    run_tick(hub)
    monkeypatch.undo()
    Job.objects.update(envelope={"scene": "another"})
    run_tick(hub)


def with_current_picture(reason: str) -> Callable:
    def cause(book, actor, hub, monkeypatch):
        run_tick(hub)
        deliver_all()
        ask(book, actor, rebuild_all=True)
        declined(reason)(book, actor, hub, monkeypatch)

    return cause


def wordless(book, actor, hub, monkeypatch):
    edit.apply_text(edit.TextRequest(book.scenes.get().pk, "…"), actor)
    run_tick(hub)


def no_units(book, actor, hub, monkeypatch):
    hub.answers = [HubDeclined("no_jobs_sent")]
    run_tick(hub)


def hub_away(book, actor, hub, monkeypatch):
    hub.answers = [HubUnavailable("refused")]
    run_tick(hub)


def preparing_fails(book, actor, hub, monkeypatch):
    def fail(*_):
        raise ValueError("no units")

    monkeypatch.setattr(orders, "units_of", fail)
    run_tick(hub)
    monkeypatch.undo()


def again(book, actor):
    regenerate.apply(regenerate.Request(book.pk, ("image",), rebuild_all=True), actor)


CAUSES = {
    "no_worker_available": declined("no_worker_available"),
    "duplicate_pending": declined("duplicate_pending"),
    "ambiguous_post": unknown("ambiguous_post"),
    "intent_receipt_unavailable": unknown("intent_receipt_unavailable"),
    "already_completed": already_completed,
    "stale_intent": at_prepare(again),
    "receipt_conflict": declined("receipt_conflict"),
    "intent_not_active": at_prepare(lambda book, actor: Task.objects.update(status="blocked")),
    "intent_corrupt": corrupt,
    "intent_missing": at_prepare(lambda book, actor: Target.objects.update(status="cancelled")),
    "already_ready": with_current_picture("already_ready"),
    "cache_hit": with_current_picture("cache_hit"),
    "all_parts_present": with_current_picture("all_parts_present"),
    "nothing_to_render": wordless,
    "no_jobs_sent": no_units,
    "send_failed": declined("send_failed"),
    "hub_unavailable": hub_away,
    "circuit_open": declined("circuit_open"),
    "dispatch_error": preparing_fails,
    "a word that nobody knows": declined("a word that nobody knows"),
}
