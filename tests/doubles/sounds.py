"""A short real narration, as a worker would store it."""

from functools import lru_cache

from dispatch.models import Dispatch
from dispatch.results.accept import accept
from dispatch.results.outcomes import Answer
from generation import stand_ins, store


@lru_cache
def mp3() -> bytes:
    return stand_ins.silence(1)


def deliver_sound(dispatch: Dispatch, content: bytes | None = None) -> Answer:
    """Hand a narration over for the dispatch, as its worker would."""
    job = dispatch.jobs.get()
    body = mp3() if content is None else content
    file = store.save(dispatch.asset_pk, dispatch.dispatch_id, job.unit, "main", "audio/mpeg", body)
    return accept(dispatch.dispatch_id, job.job_id, str(dispatch.build_id), {"main": file})
