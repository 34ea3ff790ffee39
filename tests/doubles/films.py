"""A short real video, as a worker would store it."""

import io
from functools import lru_cache

import av
import numpy as np

FRAMES_PER_SECOND = 5
# A key frame every second, as a player needs for seeking.
NOISY = {"preset": "ultrafast", "crf": "18", "g": "5"}


@lru_cache
def mp4(seconds: int = 1, width: int = 64, height: int = 36) -> bytes:
    """Return seconds of grey noise with H.264 and no sound; noise does not compress: 640 × 360 are a megabyte each."""
    chance = np.random.default_rng(1)
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        film = container.add_stream("libx264", rate=FRAMES_PER_SECOND, options=NOISY)
        film.width, film.height, film.pix_fmt = width, height, "yuv420p"
        for _ in range(FRAMES_PER_SECOND * seconds):
            noise = chance.integers(0, 255, (height * 3 // 2, width), dtype=np.uint8)
            container.mux(film.encode(av.VideoFrame.from_ndarray(noise, format="yuv420p")))
        container.mux(film.encode(None))
    return buffer.getvalue()
