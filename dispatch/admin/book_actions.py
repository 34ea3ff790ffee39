"""The commands on whole books that one line can explain."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

from generation import words
from generation.admin.actions import CommandAction
from generation.admin.forms import LayerForm, PauseForm, RetryForm, StagesForm, WindowForm
from generation.admin.scenes import deletion
from generation.commands import auto_next, delete, layers, pause, placeholder, regenerate, retry
from generation.commands.retry import Which
from generation.commands.scopes import Scope


def _each(make: Callable[[int, Any], Any]) -> Callable[[QuerySet[Any], Any], list[tuple[str, Any]]]:
    """Return what makes one request per selected book."""

    def requests(books: QuerySet[Any], data: Any) -> list[tuple[str, Any]]:
        return [(book.title, make(book.pk, data)) for book in books]

    return requests


def _stages(data: Any) -> tuple[str, ...]:
    return tuple(data["stages"] or ())


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


BOOK_ACTIONS = (
    NEXT_WINDOW.as_action("regenerate_next"),
    RETRY.as_action("retry"),
    _pausing(paused=True).as_action("pause"),
    _pausing(paused=False).as_action("resume"),
    PLACEHOLDER.as_action("fill_with_placeholders"),
    LAYER.as_action("switch_layer"),
    _auto_next(enabled=True).as_action("auto_next_on"),
    _auto_next(enabled=False).as_action("auto_next_off"),
    deletion(delete.What.BOOK).as_action("delete_books"),
)
