"""Join the parts of a dispatch into its artifact: any number of times, published once."""

import logging
from enum import StrEnum

from dispatch.failures import Failure, InputGone, failure_of
from dispatch.models import Dispatch, Part
from dispatch.rendering import registry
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
    assembling = Dispatch.objects.filter(status=Dispatch.Status.ACTIVE, assembling_at__isnull=False)
    dispatch = assembling.filter(dispatch_id=dispatch_id).first()
    if dispatch is None or dispatch.asset_id is None:
        return Ending.NOT_WANTED
    saved: dict[str, StoredFile] = {}
    try:
        saved = _joined(dispatch)
        store.validate(STAGES[StageName(dispatch.stage)], saved)
    except Exception as error:
        logger.exception("the parts of dispatch %s were not joined", dispatch_id)
        parts.remove_files(file.name for file in saved.values())
        return _fail(dispatch_id, error)
    finalise_if_active(dispatch_id, Published(saved))
    ring()
    if all(store.is_owned(file.name) for file in saved.values()):
        return Ending.PUBLISHED
    parts.remove_files(file.name for file in saved.values() if not store.is_owned(file.name))
    return Ending.NOT_WANTED


def _joined(dispatch: Dispatch) -> dict[str, StoredFile]:
    """Read the parts in their order, join them, and store the result under a new name."""
    found, missing = parts.of_dispatch(dispatch)
    if missing:
        raise PartLost(f"Parts {', '.join(missing)} are gone.")
    stage = StageName(dispatch.stage)
    contents = [_read(part) for part in found]
    return {
        file.role: store.save(dispatch.asset_pk, dispatch.dispatch_id, UNIT, file.role, file.content_type, file.content)
        for file in registry.assemble(stage, contents)
    }


def _read(part: Part) -> dict[str, bytes]:
    """Return the content of a part by role. One that is gone or damaged is forgotten: it alone is made again."""
    content: dict[str, bytes] = {}
    for role, kept in part.files.items():
        file = StoredFile.from_json(kept)
        try:
            content[role] = store.read_whole(file)
        except (FileNotFoundError, BadMedia) as error:
            part.delete()
            raise PartLost(f"Part {part.unit} is lost: {error}") from error
    return content


def _fail(dispatch_id: str, error: Exception) -> Ending:
    failure = Failure("bad_output", str(error)) if isinstance(error, BadMedia) else failure_of(error)
    ended = finalise_if_active(dispatch_id, Failed(failure))
    ring()
    if not ended:
        return Ending.NOT_WANTED
    return Ending.PARTS_LOST if isinstance(error, PartLost) else Ending.FAILED
