"""The commands on whole books."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from dispatch.models import StageWorkers
from dispatch.rendering.registry import renderable_stages
from generation import words
from generation.admin.actions import CommandAction, Plans, Table
from generation.admin.forms import LayerForm, PauseForm, RebuildForm, RetryForm, StagesForm, TimeoutForm, WindowForm
from generation.admin.scenes import deletion
from generation.commands import auto_next, cancel, delete, layers, limits, pause, placeholder, regenerate, retry
from generation.commands.retry import Which
from generation.commands.scopes import Scope
from generation.exporting.sending import zip_response
from generation.lifecycle import State
from generation.models import Asset
from generation.stages import StageName


def _each(make: Callable[[int, Any], Any]) -> Callable[[QuerySet[Any], Any], list[tuple[str, Any]]]:
    """Return what makes one request per selected book."""

    def requests(books: QuerySet[Any], data: Any) -> list[tuple[str, Any]]:
        return [(book.title, make(book.pk, data)) for book in books]

    return requests


def _stages(data: Any) -> tuple[str, ...]:
    return tuple(data["stages"] or ())


def _plan_rows(plans: Plans) -> list[tuple[str, tuple[Any, ...]]]:
    """Return a line per book and stage of a regenerate: what becomes of its assets, and who is there to do it."""
    workers = dict(StageWorkers.objects.values_list("stage", "count"))
    rows = []
    for subject, planned in plans:
        for name, stage in planned.stages.items():
            skipped = dict(stage.counts()["skipped"])
            kept, queued = skipped.pop("ready", 0), skipped.pop("already_queued", 0)
            left_out = ", ".join(f"{number} {reason.replace('_', ' ')}" for reason, number in skipped.items()) or 0
            staff = _staff(name, workers.get(name, 0))
            rows.append((subject, (name.label, len(stage.targets), kept, queued, left_out, staff)))
    return rows


def _staff(stage: StageName, number: int) -> int | str:
    return number if number or stage in renderable_stages() else "0: nothing renders it"


def _stop_rows(plans: Plans) -> list[tuple[str, tuple[Any, ...]]]:
    return [
        (subject, (StageName(stage).label, numbers["queued"], numbers["generating"]))
        for subject, planned in plans
        for stage, numbers in planned.answer()["stages"].items()
    ]


def _stop_text(books: QuerySet[Any]) -> str:
    """Return the sentence of a stop; it counts all selected books, also those the table has no room for."""
    totals = Asset.objects.filter(book__in=books.values("pk")).aggregate(
        queued=Count("pk", filter=Q(state=State.PENDING)), generating=Count("pk", filter=Q(state=State.GENERATING))
    )
    return (
        f"{totals['queued']} queued assets leave the queue and {totals['generating']} running generations are "
        "abandoned. Finished files are kept. You can start again at any time."
    )


def _stopped(answer: Mapping[str, Any]) -> str:
    return f"{answer['queued']} queued assets left the queue, {answer['generating']} running generations are abandoned"


PLAN_TABLE = Table(("Stage", "Will be generated", "Kept", "Already queued", "Left out", "Workers"), _plan_rows)


def _regenerating(title: str, *stages: StageName, text: str = "") -> CommandAction:
    return CommandAction(
        title,
        "operate",
        _each(lambda pk, data: regenerate.Request(pk, stages, rebuild_all=bool(data["rebuild_all"]))),
        regenerate.plan,
        regenerate.apply,
        words.queued,
        form=RebuildForm,
        text=text,
        table=PLAN_TABLE,
    )


STOP_ALL = CommandAction(
    "Stop all",
    "stop",
    _each(lambda pk, _: cancel.Request(pk)),
    cancel.plan,
    cancel.apply,
    words.taken_back,
    text=_stop_text,
    decline="Keep working",
    table=Table(("Stage", "Queued", "Generating"), _stop_rows),
    done=_stopped,
)
NEXT_WINDOW = CommandAction(
    "Regenerate next scenes",
    "operate",
    _each(lambda pk, data: regenerate.Request(pk, _stages(data), Scope.NEXT_WINDOW, count=data["count"])),
    regenerate.plan,
    regenerate.apply,
    words.queued,
    form=WindowForm,
)
RETRY = CommandAction(
    "Retry",
    "operate",
    _each(lambda pk, data: retry.Request(pk, _stages(data), which=Which(data["which"]))),
    retry.plan,
    retry.apply,
    words.queued,
    form=RetryForm,
)
PLACEHOLDER = CommandAction(
    "Fill with placeholders",
    "operate",
    _each(lambda pk, data: placeholder.Request(pk, _stages(data))),
    placeholder.plan,
    placeholder.apply,
    words.filled,
    form=StagesForm,
)
LAYER = CommandAction(
    "Switch a layer",
    "configure",
    _each(lambda pk, data: layers.Request(pk, data["stage"], data["enabled"])),
    layers.plan,
    layers.apply,
    words.switched,
    form=LayerForm,
    text="Off takes back what is queued and running of the layer; on starts nothing.",
)


TIMEOUT = CommandAction(
    "Set a job timeout",
    "configure",
    _each(lambda pk, data: limits.TimeoutRequest(pk, data["stage"], data["minutes"])),
    limits.plan_timeout,
    limits.apply_timeout,
    words.limited,
    form=TimeoutForm,
    text="How long one job of the stage may take. What is handed over already keeps its limit.",
)


def _pausing(*, paused: bool) -> CommandAction:
    return CommandAction(
        "Pause" if paused else "Resume",
        "stop",
        _each(lambda pk, data: pause.Request(pause.Level.BOOK, paused, pk, _stages(data), data["why"] or "")),
        pause.plan,
        pause.apply,
        words.paused,
        form=PauseForm,
        text="Nothing new starts; what runs is finished." if paused else "",
    )


def _auto_next(*, enabled: bool) -> CommandAction:
    return CommandAction(
        f"Let next scenes follow: {'on' if enabled else 'off'}",
        "operate",
        _each(lambda pk, _: auto_next.Request(pk, enabled)),
        auto_next.plan,
        auto_next.apply,
        words.switched,
        text="After a window is done, the next one is asked for in your name. Nothing starts now." if enabled else "",
    )


@admin.action(description="Export as a zip", permissions=["export"])
def export(model_admin: Any, request: HttpRequest, books: QuerySet[Any]) -> StreamingHttpResponse:
    """Send sound, pictures, films and playlists of what is published; it reads only, so nothing is confirmed."""
    return zip_response(books)


BOOK_ACTIONS = (
    _regenerating("Regenerate audio", StageName.AUDIO).as_action("regenerate_audio"),
    _regenerating("Regenerate images", StageName.IMAGE).as_action("regenerate_images"),
    _regenerating("Regenerate video", StageName.VIDEO).as_action("regenerate_video"),
    _regenerating(
        "Regenerate all", text="Videos begin when the pictures and narrations they are made from are there."
    ).as_action("regenerate_all"),
    STOP_ALL.as_action("stop_all"),
    NEXT_WINDOW.as_action("regenerate_next"),
    RETRY.as_action("retry"),
    _pausing(paused=True).as_action("pause"),
    _pausing(paused=False).as_action("resume"),
    PLACEHOLDER.as_action("fill_with_placeholders"),
    LAYER.as_action("switch_layer"),
    TIMEOUT.as_action("set_job_timeout"),
    _auto_next(enabled=True).as_action("auto_next_on"),
    _auto_next(enabled=False).as_action("auto_next_off"),
    export,
    deletion(delete.What.BOOK).as_action("delete_books"),
)
