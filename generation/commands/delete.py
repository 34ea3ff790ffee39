"""Delete scenes, chapters or a book, also in flight: the tick clears the hub by the dispatches' own ids."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Func, QuerySet, TextChoices

from generation import journal
from generation.bulk import among, delete_rows
from generation.exceptions import InvalidRequest, NotFound
from generation.lifecycle import State
from generation.models import Artifact, ArtifactFile, Asset, Book, Chapter, Command, ImageUnit, Scene, Target, Task
from generation.querysets import AssetQuerySet

from .answers import PK_LIMIT, Actor, Asked, answer_once


class What(TextChoices):
    SCENE = "scene", "Scene"
    CHAPTER = "chapter", "Chapter"
    BOOK = "book", "Book"


@dataclass(frozen=True)
class Request:
    """`pks` are scenes or chapters of one book, or the one book."""

    what: What
    pks: tuple[int, ...]

    @property
    def permission(self) -> str:
        return f"generation.delete_{What(self.what).value}"


@dataclass(frozen=True)
class Plan:
    scenes: int
    files: int
    generating: int

    def answer(self) -> dict[str, Any]:
        """Return {"scenes": n, "files": published files that go, "generating": running work that is abandoned}."""
        return {"scenes": self.scenes, "files": self.files, "generating": self.generating}


def plan(request: Request) -> Plan:
    """Return what would go. Reads only. Raises NotFound, and InvalidRequest for rows of several books or none."""
    _book_of(request)
    return _plan(request)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Delete it and return the answer of `Plan.answer()`. Raises what `plan` raises."""
    params = {"what": What(request.what).value, "pks": sorted(set(request.pks))}

    def act(book: Book, command: Command) -> dict[str, Any]:
        _book_of(request)
        answer = _plan(request).answer()
        journal.record_command(command, book, _assets(request))
        _delete(request)
        return answer

    asked = Asked(Command.Kind.DELETE, None, params, (request.permission,), partial(_book_of, request))
    return answer_once(asked, actor, key, act)


def _book_of(request: Request) -> int:
    """Return the book of what is to be deleted. Raises NotFound, InvalidRequest."""
    wanted = {pk for pk in request.pks if 0 < pk < PK_LIMIT}
    match request.what:
        case What.SCENE:
            found = dict(Scene.objects.filter(among("pk", wanted)).values_list("pk", "book"))
        case What.CHAPTER:
            found = dict(Chapter.objects.filter(among("pk", wanted)).values_list("pk", "book"))
        case What.BOOK:
            found = dict(Book.objects.filter(among("pk", wanted)).values_list("pk", "pk"))
    missing = set(request.pks) - found.keys()
    if missing:
        raise NotFound(f"There is no {What(request.what).value} {min(missing)}.")
    books = set(found.values())
    if len(books) != 1:
        raise InvalidRequest(f"Delete {What(request.what).value}s of one book; these are of {len(books)}.")
    return books.pop()


def _scenes(request: Request) -> Func:
    """Return the condition on Scene rows."""
    fields = {What.SCENE: "pk", What.CHAPTER: "chapter", What.BOOK: "book"}
    return among(fields[request.what], request.pks)


def _assets(request: Request) -> AssetQuerySet:
    return Asset.objects.filter(scene__in=Scene.objects.filter(_scenes(request))).order_by()


def _plan(request: Request) -> Plan:
    assets = _assets(request)
    return Plan(
        scenes=Scene.objects.filter(_scenes(request)).count(),
        files=ArtifactFile.objects.filter(artifact__in=assets.values("published")).count(),
        generating=assets.filter(state=State.GENERATING).count(),
    )


def _delete(request: Request) -> None:
    delete_scenes(Scene.objects.filter(_scenes(request)))
    match request.what:
        case What.CHAPTER:
            delete_rows(Chapter.objects.filter(among("pk", request.pks)))
        case What.BOOK:
            Book.objects.filter(pk__in=request.pks).delete()


def _targets_of(scenes: QuerySet[Scene]) -> QuerySet[Target]:
    """Along the asset only open ones have an index; as numbers, the tasks of the book lead to the others."""
    tasks = Task.objects.filter(book__in=scenes.values("book")).order_by().values_list("pk", flat=True)
    assets = Asset.objects.filter(scene__in=scenes).order_by().values_list("pk", flat=True)
    return Target.objects.filter(among("task", tasks), among("asset", assets))


def delete_scenes(scenes: QuerySet[Scene]) -> None:
    """Delete scenes with all that hangs on them, from the leaves to the root, a statement per table.

    Call under the Book lock. What is in flight keeps its handle to the hub; the tick ends it.
    """
    assets = Asset.objects.filter(scene__in=scenes).order_by()
    delete_rows(ArtifactFile.objects.filter(artifact__asset__in=assets))
    delete_rows(_targets_of(scenes))
    delete_rows(Artifact.objects.filter(asset__in=assets))
    delete_rows(assets)
    delete_rows(ImageUnit.objects.filter(scene__in=scenes))
    delete_rows(scenes)
