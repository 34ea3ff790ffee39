"""Which scenes of a book a command is about."""

from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, TextChoices

from generation import freshness
from generation.bulk import among
from generation.exceptions import InvalidRequest, NotFound
from generation.lifecycle import State
from generation.models import Asset, Book, Chapter, LayerConfig, Scene
from generation.stages import Stage

WINDOW_SCENES = 3
WINDOW_MOST = 200
KEY_LIMIT = 2**63


class Scope(TextChoices):
    WHOLE_BOOK = "whole_book", "Whole book"
    CHAPTER = "chapter", "Chapter"
    SCENE = "scene", "Scene"
    FROM_SCENE = "from_scene", "From a scene to the end"
    SELECTION = "selection", "Selected scenes"
    NEXT_WINDOW = "next_window", "Next scenes that are not ready"


@dataclass(frozen=True)
class Chosen:
    """`ids` are primary keys: of the chapters, the scene, the first scene, the selected scenes.

    `count` is the number of scenes of a next_window, 1 to 200.
    """

    scope: Scope = Scope.WHOLE_BOOK
    ids: tuple[int, ...] = ()
    count: int = WINDOW_SCENES

    def params(self) -> dict[str, Any]:
        params: dict[str, Any] = {"scope": self.scope.value, "ids": sorted(set(self.ids))}
        if self.scope == Scope.NEXT_WINDOW:
            params["count"] = self.count
        return params


@dataclass(frozen=True)
class StagesOfScenes:
    """A request about some stages of some scenes of a book; `stages` empty means all, the rest as in `Chosen`."""

    book_pk: int
    stages: tuple[str, ...] = ()
    scope: Scope = Scope.WHOLE_BOOK
    ids: tuple[int, ...] = ()

    @property
    def chosen(self) -> Chosen:
        return Chosen(self.scope, self.ids)

    def params(self) -> dict[str, Any]:
        return {"stages": list(self.stages), **self.chosen.params()}


def scenes_of(book: Book, chosen: Chosen, stages: list[Stage]) -> QuerySet[Scene]:
    """Return the scenes asked for; `stages` says what a scene of the next window lacks.

    Raises InvalidRequest for ids that do not fit the scope, NotFound for an id that is not one of this book's.
    """
    scenes = Scene.objects.filter(book=book)
    ids = set(chosen.ids)
    if chosen.scope != Scope.NEXT_WINDOW and chosen.count != WINDOW_SCENES:
        raise InvalidRequest(f"The scope {chosen.scope} takes no count.")
    if chosen.scope in (Scope.WHOLE_BOOK, Scope.NEXT_WINDOW):
        if ids:
            raise InvalidRequest(f"The scope {chosen.scope} takes no ids.")
        return scenes if chosen.scope == Scope.WHOLE_BOOK else _next_window(scenes, book, chosen.count, stages)
    _require_ids(chosen, ids)
    if chosen.scope == Scope.CHAPTER:
        _require_known(ids, Chapter.objects.filter(book=book), "chapter")
        return scenes.filter(chapter__in=ids)
    _require_known(ids, scenes, "scene")
    if chosen.scope == Scope.FROM_SCENE:
        return scenes.filter(position__gte=scenes.get(pk__in=ids).position)
    return scenes.filter(among("pk", ids))


def _require_ids(chosen: Chosen, ids: set[int]) -> None:
    one = chosen.scope in (Scope.SCENE, Scope.FROM_SCENE)
    if not ids or (one and len(ids) != 1):
        raise InvalidRequest(f"The scope {chosen.scope} needs {'one id' if one else 'ids'}.")


def _require_known(ids: set[int], rows: QuerySet[Any], noun: str) -> None:
    storable = [pk for pk in ids if 0 < pk < KEY_LIMIT]
    unknown = ids - set(rows.filter(among("pk", storable)).values_list("pk", flat=True))
    if unknown:
        raise NotFound(f"This book has no {noun} with the id {min(unknown)}.")


def _next_window(scenes: QuerySet[Scene], book: Book, count: int, stages: list[Stage]) -> QuerySet[Scene]:
    """Return the first `count` scenes in reading order of which something asked for is not ready.

    A scene that failed is not ready: the window stays on it. Layers that are off and scenes without a word are passed
    over: nothing could ever make them ready.
    """
    if not 0 < count <= WINDOW_MOST:
        raise InvalidRequest(f"A window has 1 to {WINDOW_MOST} scenes, not {count}.")
    off = set(LayerConfig.objects.filter(book=book, enabled=False).values_list("stage", flat=True))
    wanted = [stage.name for stage in stages if stage.name not in off]
    not_ready = ~Q(state=State.READY) | freshness.stale()
    lacking = Exists(Asset.objects.filter(not_ready, scene=OuterRef("pk"), stage__in=wanted))
    first = scenes.filter(lacking, has_words=True).order_by("position").values_list("pk", flat=True)
    return scenes.filter(pk__in=list(islice(first[:count], count)))
