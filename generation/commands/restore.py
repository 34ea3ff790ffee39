"""Restore an earlier version: the pointer moves back. The only publication that is no result of a dispatch."""

from dataclasses import dataclass
from typing import Any

from generation import freshness, journal, store
from generation.exceptions import Conflict, NotFound
from generation.lifecycle import COMMANDED, IDLE, State
from generation.models import Artifact, Asset, Book, Command, Scene, Target
from generation.signals import before_restore
from generation.stages import others_made_from

from .answers import PK_LIMIT, Actor, Asked, answer_once
from .permissions import OPERATE
from .targets import new_intent


@dataclass(frozen=True)
class Request:
    artifact_pk: int


@dataclass(frozen=True)
class Plan:
    version: int
    replaces: int | None

    def answer(self) -> dict[str, Any]:
        """Return {"version": the version restored, "replaces": the one published until now, or null}."""
        return {"version": self.version, "replaces": self.replaces}


def plan(request: Request) -> Plan:
    """Return what it would do. Reads only. Raises NotFound, and Conflict while the asset is queued or generating."""
    artifact = _artifact(request.artifact_pk)
    _require_idle(artifact.asset)
    _require_files(artifact.pk)
    return _plan(artifact)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Publish the version and return the answer of `Plan.answer()`. Raises what `plan` raises.

    The asset is ready afterwards when the version is what its scene would give now, else out of date.
    """

    # A repeated command is answered after its version is gone: that one is looked for below.
    actor.require((OPERATE,))
    if 0 < request.artifact_pk < PK_LIMIT and Artifact.objects.filter(pk=request.artifact_pk).exists():
        _require_files(request.artifact_pk)

    def act(book: Book, command: Command) -> dict[str, Any]:
        artifact = _artifact(request.artifact_pk)
        _require_idle(artifact.asset)
        answer = _plan(artifact).answer()
        _publish(artifact, book, command)
        return answer

    params = {"artifact": request.artifact_pk}
    asked = Asked(Command.Kind.RESTORE, None, params, (OPERATE,), lambda: _artifact(request.artifact_pk).asset.book_id)
    return answer_once(asked, actor, key, act)


def _artifact(pk: int) -> Artifact:
    found = Artifact.objects.filter(pk=pk).select_related("asset__published").first() if 0 < pk < PK_LIMIT else None
    if found is None:
        raise NotFound(f"There is no version with the id {pk} (any more).")
    return found


def _require_idle(asset: Asset) -> None:
    if asset.state in COMMANDED or asset.targets.filter(status=Target.Status.OPEN).exists():
        raise Conflict("This is queued or being made. Stop it before you restore a version.")
    before_restore.send(sender=None, asset=asset)


def _require_files(artifact_pk: int) -> None:
    if not store.is_complete(artifact_pk):
        raise Conflict("The file of this version is not in the storage any more.")


def _plan(artifact: Artifact) -> Plan:
    published = artifact.asset.published
    return Plan(artifact.version, published.version if published else None)


def _publish(artifact: Artifact, book: Book, command: Command) -> None:
    """Move the pointer, then judge the asset by what it shows now. The intent rises: a late result cannot win."""
    asset = artifact.asset
    row = Asset.objects.filter(pk=asset.pk)
    row.update(published=artifact, **new_intent())
    target = State.DIRTY if row.filter(freshness.stale()).exists() else State.READY
    journal.record_command(command, book, row.order_by(), target, IDLE, proven=True)
    row.move(IDLE, target, proven=True, stand_in="", failure_reason="", failure_message="")
    if others_made_from(asset.stage):
        Scene.objects.filter(pk=asset.scene_id).update(recheck=True)
