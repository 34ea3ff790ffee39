"""Join the parts of a dispatch into its artifact: any number of times, published once."""

import logging
from enum import StrEnum

from django.db.models import F

from dispatch.failures import Failure, InputGone, failure_of
from dispatch.models import Dispatch, Part
from dispatch.rendering import registry
from dispatch.rendering.tools import RenderedFile
from dispatch.ring import ring
from generation import store
from generation.exceptions import BadMedia
from generation.stages import STAGES, StageName
from generation.store import StoredFile

from . import parts
from .finalise import finalise_if_active
from .outcomes import Failed, Published

logger = logging.getLogger(__name__)

UNIT = "joined"


class Ending(StrEnum):
    NOT_WANTED = "not wanted any more"
    PARTS_LOST = "parts are lost; they are asked for again"
    FAILED = "failed"
    PUBLISHED = "published"


class PartLost(InputGone):
    """A part that was accepted is not there any more."""

    reason = "part_lost"


def assemble(dispatch_id: str) -> Ending:
    """Join and publish. Safe to repeat and in parallel: who comes second finds the dispatch ended.

    Raises only when PostgreSQL is away; the tick asks again.
    """
    assembling = Dispatch.objects.filter(
        dispatch_id=dispatch_id, status=Dispatch.Status.ACTIVE, assembling_at__isnull=False
    )
    dispatch = assembling.first()
    if dispatch is None or dispatch.asset_id is None:
        return Ending.NOT_WANTED
    assembling.update(assembly_attempts=F("assembly_attempts") + 1)
    saved: dict[str, StoredFile] = {}
    try:
        for file in _joined(dispatch):
            where = (dispatch.asset_pk, dispatch_id, UNIT, file.role)
            saved[file.role] = store.save(*where, file.content_type, file.content)
        published = store.validate(STAGES[StageName(dispatch.stage)], saved)
    except Exception as error:
        logger.exception("the parts of dispatch %s were not joined", dispatch_id)
        parts.remove_files(file.name for file in saved.values())
        return _fail(dispatch_id, error)
    finalise_if_active(dispatch_id, Published(published))
    ring()
    unowned = [file.name for file in saved.values() if not store.is_owned(file.name)]
    parts.remove_files(unowned)
    return Ending.NOT_WANTED if unowned else Ending.PUBLISHED


def _joined(dispatch: Dispatch) -> list[RenderedFile]:
    """Read the parts in their order and join them. Those that are gone or damaged are forgotten, to be made again."""
    found, missing = parts.of_dispatch(dispatch)
    contents = []
    for part in found:
        try:
            contents.append(_read(part))
        except (FileNotFoundError, BadMedia):
            parts.drop(part)
            missing.append(part.unit)
    if missing:
        raise PartLost(f"Parts {', '.join(sorted(missing))} are lost.")
    return registry.assemble(StageName(dispatch.stage), contents)


def _read(part: Part) -> dict[str, bytes]:
    """Return the content of a part by role."""
    return {role: store.read_whole(StoredFile.from_json(kept)) for role, kept in part.files.items()}


def _fail(dispatch_id: str, error: Exception) -> Ending:
    failure = Failure("bad_output", str(error)) if isinstance(error, BadMedia) else failure_of(error)
    ended = finalise_if_active(dispatch_id, Failed(failure))
    ring()
    if not ended:
        return Ending.NOT_WANTED
    return Ending.PARTS_LOST if isinstance(error, PartLost) else Ending.FAILED
