"""A short real narration, as a worker would store it."""

from functools import lru_cache

import numpy as np

from dispatch.models import Dispatch
from dispatch.rendering.narration import sound
from dispatch.results.accept import accept
from dispatch.results.outcomes import Answer
from generation import store

RATE = 24_000


@lru_cache
def mp3() -> bytes:
    """Return a second of a tone."""
    return sound.encode_mp3(tone(1), RATE)


def tone(seconds: float, hertz: float = 440) -> sound.Samples:
    return (np.sin(np.arange(round(seconds * RATE)) * 2 * np.pi * hertz / RATE) * 0.2).astype(np.float32)


def deliver_sound(dispatch: Dispatch, content: bytes | None = None) -> Answer:
    """Hand a narration over for the dispatch, as its worker would."""
    job = dispatch.jobs.get()
    body = mp3() if content is None else content
    file = store.save(dispatch.asset_pk, dispatch.dispatch_id, job.unit, "main", "audio/mpeg", body)
    return accept(dispatch.dispatch_id, job.job_id, str(dispatch.build_id), {"main": file})
