"""Delete a scene, a chapter or a book, also in flight: the tick clears the hub by the dispatches' own ids."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Q, TextChoices

from generation import journal
from generation.bulk import delete_rows
from generation.exceptions import NotFound
from generation.lifecycle import State
from generation.models import Artifact, ArtifactFile, Asset, Book, Chapter, Command, Scene, Target
from generation.querysets import AssetQuerySet

from .answers import PK_LIMIT, Actor, Asked, answer_once


class What(TextChoices):
    SCENE = "scene", "Scene"
    CHAPTER = "chapter", "Chapter"
    BOOK = "book", "Book"


@dataclass(frozen=True)
class Request:
    what: What
    pk: int

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
    """Return what would go. Reads only. Raises NotFound."""
    _book_of(request)
    return _plan(request)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Delete it and return the answer of `Plan.answer()`. Raises what `plan` raises."""
    params = {"what": What(request.what).value, "pk": request.pk}

    def act(book: Book, command: Command) -> dict[str, Any]:
        _book_of(request)
        answer = _plan(request).answer()
        journal.record_command(command, book, _assets(request))
        _delete(request)
        return answer

    asked = Asked(Command.Kind.DELETE, None, params, (request.permission,), partial(_book_of, request))
    return answer_once(asked, actor, key, act)


def _book_of(request: Request) -> int:
    """Return the book of what is to be deleted. Raises NotFound."""
    found = None
    if 0 < request.pk < PK_LIMIT:
        match request.what:
            case What.SCENE:
                found = Scene.objects.filter(pk=request.pk).values_list("book", flat=True).first()
            case What.CHAPTER:
                found = Chapter.objects.filter(pk=request.pk).values_list("book", flat=True).first()
            case What.BOOK:
                found = Book.objects.filter(pk=request.pk).values_list("pk", flat=True).first()
    if found is None:
        raise NotFound(f"There is no {What(request.what).value} {request.pk}.")
    return found


def _scenes(request: Request) -> Q:
    """Return the condition on Scene rows."""
    match request.what:
        case What.SCENE:
            return Q(pk=request.pk)
        case What.CHAPTER:
            return Q(chapter=request.pk)
    return Q(book=request.pk)


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
    """Delete from the leaves to the root, a statement per table, however many rows."""
    scenes = Scene.objects.filter(_scenes(request))
    assets = _assets(request)
    delete_rows(ArtifactFile.objects.filter(artifact__asset__in=assets))
    delete_rows(Target.objects.filter(asset__in=assets))
    delete_rows(Artifact.objects.filter(asset__in=assets))
    delete_rows(assets)
    delete_rows(scenes)
    match request.what:
        case What.CHAPTER:
            Chapter.objects.filter(pk=request.pk).delete()
        case What.BOOK:
            Book.objects.filter(pk=request.pk).delete()
