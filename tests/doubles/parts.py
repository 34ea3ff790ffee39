"""A narration in parts, each a tone of its own, as workers would store them."""

from functools import lru_cache

import numpy as np

from dispatch.models import Dispatch, Job
from dispatch.rendering.narration import sound
from dispatch.results.accept import accept
from dispatch.results.outcomes import Answer
from generation import store
from generation.cues import Cue, to_vtt
from generation.models import Scene
from generation.store import StoredFile
from tests.doubles.sounds import RATE, tone
from tests.factories.books import make_book

PART_S = 0.5
# One part each: 1 500 characters are more than the longest part, and the sentence cannot be divided among two.
SENTENCE = ("word " * 55).strip() + ". "


def long_book(parts: int):
    """Return a book whose one scene is spoken in so many parts."""
    book = make_book(scenes=1)
    # Four such sentences fill a part.
    Scene.objects.filter(book=book).update(text=(SENTENCE * 4 * parts).strip())
    return book


def hertz(number: int) -> int:
    return 200 + 100 * number


@lru_cache
def flac(number: int) -> bytes:
    return sound.encode_flac(tone(PART_S, hertz(number)), RATE)


def store_part(dispatch: Dispatch, job: Job, content: bytes | None = None) -> dict[str, StoredFile]:
    number = int(job.unit)
    body = flac(number) if content is None else content
    where = (dispatch.asset_pk, dispatch.dispatch_id, job.unit)
    return {
        "main": store.save(*where, "main", "audio/flac", body),
        "subtitles": store.save(*where, "subtitles", "text/vtt", to_vtt([Cue(f"Part {number}.", 0.1, 0.4)])),
    }


def deliver_part(dispatch: Dispatch, unit: str, content: bytes | None = None) -> Answer:
    """Hand one part over, as its worker would."""
    job = dispatch.jobs.get(unit=unit)
    files = store_part(dispatch, job, content)
    return accept(dispatch.dispatch_id, job.job_id, str(dispatch.build_id), files)


def heard(content: bytes, parts: int) -> list[int]:
    """Return which part is heard in each stretch of the joined sound."""
    samples, rate = sound.decode(content)
    tones = [np.abs(np.fft.rfft(stretch)).argmax() * rate / len(stretch) for stretch in np.array_split(samples, parts)]
    return [round((found - 200) / 100) for found in tones]
