"""Small real pictures, as a worker would store them."""

import io
from functools import lru_cache

from PIL import Image

from dispatch.models import Dispatch, Job
from dispatch.results.accept import accept
from dispatch.results.outcomes import Answer
from generation import store
from generation.store import StoredFile


@lru_cache
def webp() -> bytes:
    picture = Image.effect_noise((64, 36), 80).convert("RGB")
    buffer = io.BytesIO()
    picture.save(buffer, "WEBP")
    return buffer.getvalue()


def store_picture(dispatch: Dispatch, content: bytes | None = None) -> dict[str, StoredFile]:
    job = dispatch.jobs.get()
    body = webp() if content is None else content
    file = store.save(dispatch.asset_pk, dispatch.dispatch_id, job.unit, "main", "image/webp", body)
    return {"main": file}


def deliver(dispatch: Dispatch, content: bytes | None = None) -> Answer:
    """Hand a picture over for the dispatch, as its worker would."""
    job: Job = dispatch.jobs.get()
    return accept(dispatch.dispatch_id, job.job_id, str(dispatch.build_id), store_picture(dispatch, content))


def deliver_all() -> list[Answer]:
    return [deliver(dispatch) for dispatch in Dispatch.objects.filter(status=Dispatch.Status.ACTIVE)]
