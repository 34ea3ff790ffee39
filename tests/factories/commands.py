"""For every kind of command: a request that works, another of the kind, and requests that are refused."""

from collections.abc import Callable
from dataclasses import dataclass

from generation.commands import (
    auto_next,
    cancel,
    cancel_task,
    delete,
    edit,
    import_book,
    layers,
    limits,
    pause,
    placeholder,
    priority,
    regenerate,
    reset_circuit,
    restore,
    retry,
)
from generation.commands.scopes import Scope
from generation.importing.files import read_file
from generation.lifecycle import State
from generation.models import Command, Task

from .artifacts import add_version, publish
from .books import make_book
from .bundles import bundle, chapter, scene

NOWHERE = 10**12
TOO_LARGE = 2**70


@dataclass(frozen=True)
class Case:
    """A command on `Stage`: the request that works, another one of the kind, and requests that are refused."""

    permissions: tuple[str, ...]
    apply: Callable
    plan: Callable
    good: Callable
    other: Callable
    bad: Callable


OPERATE, STOP, EDIT = "generation.operate_book", "generation.stop_book", "generation.change_scene"
CONFIGURE = "generation.configure_layers"
Kind = Command.Kind


class Given:
    """A book with something in every state that a command is about."""

    def __init__(self, actor):
        self.book = make_book(scenes=4)
        self.scenes = list(self.book.scenes.order_by("position"))
        regenerate.apply(regenerate.Request(self.book.pk, ("image",), Scope.SCENE, (self.scenes[0].pk,)), actor)
        self.task = Task.objects.get()
        self.artifact = publish(self.book.assets.get(scene=self.scenes[1], stage="image"))
        self.book.assets.filter(scene=self.scenes[2], stage="image").update(state=State.FAILED)


CASES = {
    Kind.IMPORT: Case(
        ("generation.add_book", EDIT, "generation.delete_scene"),
        import_book.apply,
        import_book.plan,
        lambda it: import_book.Request(read_file(bundle(chapter("c1", scene("s1"))), "x.zip"), it.book.key, True),
        lambda it: import_book.Request(read_file(bundle(chapter("c2", scene("s1"))), "x.zip"), it.book.key, True),
        lambda it: [
            import_book.Request(read_file(b"Words.", "x.txt"), key)
            for key in ("", "\x00", "\ud800", "x" * 201, it.book.key)
        ],
    ),
    Kind.REGENERATE: Case(
        (OPERATE,),
        regenerate.apply,
        regenerate.plan,
        lambda it: regenerate.Request(it.book.pk, ("image",)),
        lambda it: regenerate.Request(it.book.pk, ("audio",)),
        lambda it: [
            regenerate.Request(NOWHERE),
            regenerate.Request(TOO_LARGE),
            regenerate.Request(it.book.pk, ("smell",)),
            regenerate.Request(it.book.pk, (), Scope.SCENE, (NOWHERE,)),
            regenerate.Request(it.book.pk, (), Scope.SCENE, (TOO_LARGE,)),
            regenerate.Request(it.book.pk, (), Scope.SCENE, tuple(scene.pk for scene in it.scenes)),
            regenerate.Request(it.book.pk, (), Scope.FROM_SCENE, ()),
            regenerate.Request(it.book.pk, (), Scope.WHOLE_BOOK, (it.scenes[0].pk,)),
            regenerate.Request(it.book.pk, (), Scope.NEXT_WINDOW, count=0),
            regenerate.Request(it.book.pk, (), Scope.NEXT_WINDOW, count=TOO_LARGE),
        ],
    ),
    Kind.RETRY: Case(
        (OPERATE,),
        retry.apply,
        retry.plan,
        lambda it: retry.Request(it.book.pk),
        lambda it: retry.Request(it.book.pk, ("audio",)),
        lambda it: [
            retry.Request(NOWHERE),
            retry.Request(it.book.pk, ("smell",)),
            *(retry.Request(it.book.pk, reason=reason) for reason in ("\x00", "\ud800", "x" * 61)),
        ],
    ),
    Kind.CANCEL: Case(
        (STOP,),
        cancel.apply,
        cancel.plan,
        lambda it: cancel.Request(it.book.pk),
        lambda it: cancel.Request(it.book.pk, ("audio",)),
        lambda it: [cancel.Request(NOWHERE), cancel.Request(-1), cancel.Request(it.book.pk, ("smell",))],
    ),
    Kind.CANCEL_TASK: Case(
        (STOP,),
        cancel_task.apply,
        cancel_task.plan,
        lambda it: cancel_task.Request(it.task.pk),
        lambda it: cancel_task.Request(Task.objects.create(command=it.task.command, book=it.book, stage="audio").pk),
        lambda it: [cancel_task.Request(NOWHERE), cancel_task.Request(TOO_LARGE)],
    ),
    Kind.LAYER: Case(
        (CONFIGURE,),
        layers.apply,
        layers.plan,
        lambda it: layers.Request(it.book.pk, "image", False),
        lambda it: layers.Request(it.book.pk, "image", True),
        lambda it: [layers.Request(NOWHERE, "image", False), layers.Request(it.book.pk, "smell", False)],
    ),
    Kind.PAUSE: Case(
        (STOP,),
        pause.apply,
        pause.plan,
        lambda it: pause.Request(pause.Level.BOOK, True, it.book.pk),
        lambda it: pause.Request(pause.Level.BOOK, True, it.book.pk, why="lunch"),
        lambda it: [
            pause.Request(pause.Level.BOOK, True),
            pause.Request(pause.Level.BOOK, True, NOWHERE),
            pause.Request(pause.Level.BOOK, True, it.book.pk, why="x" * 201),
            pause.Request(pause.Level.BOOK, True, it.book.pk, why="\x00"),
            pause.Request(pause.Level.BOOK, True, it.book.pk, why="\ud800"),
        ],
    ),
    Kind.RESUME: Case(
        (CONFIGURE,),
        pause.apply,
        pause.plan,
        lambda it: pause.Request(pause.Level.SYSTEM, False),
        lambda it: pause.Request(pause.Level.STAGE, False, stages=("image",)),
        lambda it: [
            pause.Request(pause.Level.SYSTEM, False, it.book.pk),
            pause.Request(pause.Level.SYSTEM, False, stages=("image",)),
            pause.Request(pause.Level.STAGE, False),
            pause.Request(pause.Level.STAGE, False, stages=("smell",)),
        ],
    ),
    Kind.EDIT_TEXT: Case(
        (EDIT,),
        edit.apply_text,
        edit.plan_text,
        lambda it: edit.TextRequest(it.scenes[0].pk, "The ship is back."),
        lambda it: edit.TextRequest(it.scenes[0].pk, "The ship is lost."),
        lambda it: [
            edit.TextRequest(NOWHERE, "x"),
            *(edit.TextRequest(it.scenes[0].pk, text) for text in ("", " \n", "a\x00b", "\ud800", "x" * 200_001)),
        ],
    ),
    Kind.EDIT_VOICES: Case(
        (EDIT,),
        edit.apply_voices,
        edit.plan_voices,
        lambda it: edit.VoicesRequest(it.book.pk, "heart"),
        lambda it: edit.VoicesRequest(it.book.pk, "nicolas"),
        lambda it: [
            edit.VoicesRequest(NOWHERE),
            edit.VoicesRequest(it.book.pk, "no such voice"),
            edit.VoicesRequest(it.book.pk, "", 0),
            edit.VoicesRequest(it.book.pk, "", 100, Scope.NEXT_WINDOW),
        ],
    ),
    Kind.DELETE: Case(
        ("generation.delete_scene",),
        delete.apply,
        delete.plan,
        lambda it: delete.Request(delete.What.SCENE, (it.scenes[3].pk,)),
        lambda it: delete.Request(delete.What.SCENE, (it.scenes[2].pk,)),
        lambda it: [
            delete.Request(delete.What.SCENE, (NOWHERE,)),
            delete.Request(delete.What.SCENE, (TOO_LARGE,)),
            delete.Request(delete.What.SCENE, (it.scenes[0].pk, NOWHERE)),
            delete.Request(delete.What.SCENE, ()),
        ],
    ),
    Kind.RESTORE: Case(
        (OPERATE,),
        restore.apply,
        restore.plan,
        lambda it: restore.Request(it.artifact.pk),
        lambda it: restore.Request(add_version(it.artifact.asset, 2).pk),
        lambda it: [restore.Request(NOWHERE), restore.Request(TOO_LARGE)],
    ),
    Kind.PLACEHOLDER: Case(
        (OPERATE,),
        placeholder.apply,
        placeholder.plan,
        lambda it: placeholder.Request(it.book.pk, ("image",)),
        lambda it: placeholder.Request(it.book.pk, ("audio",)),
        lambda it: [
            placeholder.Request(NOWHERE),
            placeholder.Request(it.book.pk, ("smell",)),
            placeholder.Request(it.book.pk, ("video",)),
        ],
    ),
    Kind.PRIORITY: Case(
        (OPERATE,),
        priority.apply,
        priority.plan,
        lambda it: priority.Request(it.book.pk),
        lambda it: priority.Request(it.book.pk, ("audio",)),
        lambda it: [priority.Request(NOWHERE), priority.Request(it.book.pk, ("smell",))],
    ),
    Kind.QUOTA: Case(
        ("generation.change_stageconfig",),
        limits.apply_quota,
        limits.plan_quota,
        lambda it: limits.QuotaRequest("image", 7),
        lambda it: limits.QuotaRequest("audio", 7),
        lambda it: [limits.QuotaRequest("smell", 1), *(limits.QuotaRequest("image", n) for n in (-1, 1001, TOO_LARGE))],
    ),
    Kind.RESET_CIRCUIT: Case(
        ("generation.change_stageconfig",),
        reset_circuit.apply,
        reset_circuit.plan,
        lambda it: reset_circuit.Request("image"),
        lambda it: reset_circuit.Request("audio"),
        lambda it: [reset_circuit.Request("smell"), reset_circuit.Request("")],
    ),
    Kind.JOB_TIMEOUT: Case(
        (CONFIGURE,),
        limits.apply_timeout,
        limits.plan_timeout,
        lambda it: limits.TimeoutRequest(it.book.pk, "video", 90),
        lambda it: limits.TimeoutRequest(it.book.pk, "video", None),
        lambda it: [
            limits.TimeoutRequest(NOWHERE, "video", 90),
            limits.TimeoutRequest(it.book.pk, "smell", 90),
            *(limits.TimeoutRequest(it.book.pk, "video", minutes) for minutes in (0, 4, 181, -5, TOO_LARGE)),
        ],
    ),
    Kind.AUTO_NEXT: Case(
        (OPERATE,),
        auto_next.apply,
        auto_next.plan,
        lambda it: auto_next.Request(it.book.pk, True),
        lambda it: auto_next.Request(it.book.pk, False),
        lambda it: [auto_next.Request(NOWHERE, True)],
    ),
}
