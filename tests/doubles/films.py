"""A short real video, as a worker would store it."""

import io
from functools import lru_cache

import av
import numpy as np


@lru_cache
def mp4(seconds: int = 1) -> bytes:
    """Return seconds of grey noise with H.264 and no sound."""
    noise = np.random.default_rng(1).integers(0, 255, (36, 64, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        film = container.add_stream("libx264", rate=5)
        film.width, film.height, film.pix_fmt = 64, 36, "yuv420p"
        for _ in range(5 * seconds):
            container.mux(film.encode(av.VideoFrame.from_ndarray(noise, format="rgb24")))
        container.mux(film.encode(None))
    return buffer.getvalue()
