"""Pause and resume, of everything, of a stage, of a book: nothing new starts, and nothing that runs is stopped."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet, TextChoices
from django.db.models.functions import Now

from generation.exceptions import InvalidRequest
from generation.lifecycle import State
from generation.models import Asset, Book, Command, LayerConfig, StageConfig, SystemConfig
from generation.querysets import AssetQuerySet
from generation.stages import stage_named

from .answers import Actor, Asked, answer_once, answer_once_for_all, book_named, require_storable
from .permissions import CONFIGURE, STOP
from .planning import stages_asked

WHY_MAX = 200


class Level(TextChoices):
    SYSTEM = "system", "Everything"
    STAGE = "stage", "A stage of all books"
    BOOK = "book", "A book"


@dataclass(frozen=True)
class Request:
    """`paused` False resumes. A stage needs its one name in `stages`; for a book, empty means all of it."""

    level: Level
    paused: bool
    book_pk: int | None = None
    stages: tuple[str, ...] = ()
    why: str = ""

    def names(self) -> list[str]:
        return [stage.name for stage in stages_asked(self.stages)]

    def asked(self) -> Asked:
        kind = Command.Kind.PAUSE if self.paused else Command.Kind.RESUME
        params = {"level": Level(self.level).value, "stages": self.names(), "why": self.why}
        return Asked(kind, self.book_pk, params, (STOP if self.level == Level.BOOK else CONFIGURE,))


@dataclass(frozen=True)
class Plan:
    changes: bool
    queued: int

    def answer(self) -> dict[str, Any]:
        """Return {"changes": whether anything is paused or resumed by it, "queued": assets that wait there}."""
        return {"changes": self.changes, "queued": self.queued}


def plan(request: Request) -> Plan:
    """Return what it would do. Reads only. Raises NotFound, UnknownStage, InvalidRequest."""
    _require_fitting(request)
    return _plan(request, None if request.book_pk is None else book_named(request.book_pk))


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Pause or resume and return the answer of `Plan.answer()`. Raises what `plan` raises."""
    _require_fitting(request)

    def act(book: Book | None) -> dict[str, Any]:
        answer = _plan(request, book).answer()
        rows = _rows(request, book)
        if request.paused:
            # Who paused first, and why, stays.
            rows.filter(paused_at__isnull=True).update(paused_at=Now(), paused_by=actor.name, paused_why=request.why)
        else:
            rows.update(paused_at=None, paused_by="", paused_why="")
        return answer

    if request.level == Level.BOOK:
        return answer_once(request.asked(), actor, key, lambda book, _: act(book))
    return answer_once_for_all(request.asked(), actor, key, lambda _: act(None))


def _require_fitting(request: Request) -> None:
    request.names()
    if (request.level == Level.BOOK) != (request.book_pk is not None):
        raise InvalidRequest(f"The level {request.level} {'needs a' if request.book_pk is None else 'takes no'} book.")
    if request.level == Level.STAGE and len(request.stages) != 1:
        raise InvalidRequest("The level stage needs one stage.")
    if request.level == Level.SYSTEM and request.stages:
        raise InvalidRequest("The level system takes no stages.")
    require_storable("reason", request.why, WHY_MAX)


def _rows(request: Request, book: Book | None) -> QuerySet[Any]:
    """Return the rows to write, which are made if they are missing."""
    match request.level:
        case Level.SYSTEM:
            SystemConfig.objects.get_or_create(id=1)
            return SystemConfig.objects.filter(id=1)
        case Level.STAGE:
            stage = stage_named(request.stages[0])
            StageConfig.objects.get_or_create(stage=stage.name, defaults={"quota": stage.quota})
            return StageConfig.objects.filter(stage=stage.name)
    if book is not None:
        LayerConfig.objects.set(book, request.names())
    return LayerConfig.objects.filter(book=book, stage__in=request.names())


def _plan(request: Request, book: Book | None) -> Plan:
    stages = request.names()
    existing: QuerySet[Any]
    match request.level:
        case Level.SYSTEM:
            existing, expected = SystemConfig.objects.all(), 1
        case Level.STAGE:
            existing, expected = StageConfig.objects.filter(stage__in=stages), 1
        case _:
            existing, expected = LayerConfig.objects.filter(book=book, stage__in=stages), len(stages)
    paused = existing.filter(paused_at__isnull=False).count()
    changes = paused < expected if request.paused else paused > 0
    return Plan(changes, _queued(stages, book).count())


def _queued(stages: list[str], book: Book | None) -> AssetQuerySet:
    queued = Asset.objects.filter(stage__in=stages, state=State.PENDING)
    return queued if book is None else queued.filter(book=book)
