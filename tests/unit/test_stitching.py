"""Films one after another: nothing is lost between them, whatever they are."""

import io
from fractions import Fraction

import av
import numpy as np
import pytest

from generation.exporting.stitching import stitch


def film(colour, seconds=2, size=(320, 180), rate=15, sound_rate=24_000, tone=440, begin=0):
    """What opens a film of one colour with a tone, made like those of scenes; it begins at `begin` seconds."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        video = container.add_stream("libx264", rate=rate, options={"preset": "veryfast"})
        video.width, video.height, video.pix_fmt = *size, "yuv420p"
        sound = container.add_stream("aac", rate=sound_rate, layout="mono") if sound_rate else None
        for number in range(seconds * rate):
            picture = av.VideoFrame.from_ndarray(np.full((size[1], size[0], 3), colour, np.uint8), format="rgb24")
            picture.pts, picture.time_base = number + begin * rate, Fraction(1, rate)
            container.mux(video.encode(picture))
        container.mux(video.encode(None))
        if sound:
            wave = 0.3 * np.sin(2 * np.pi * tone * np.arange(seconds * sound_rate) / sound_rate).astype(np.float32)
            for place in range(0, len(wave), 1024):
                frame = av.AudioFrame.from_ndarray(wave[None, place : place + 1024], "fltp", "mono")
                frame.sample_rate, frame.time_base = sound_rate, Fraction(1, sound_rate)
                frame.pts = place + begin * sound_rate
                container.mux(sound.encode(frame))
            container.mux(sound.encode(None))
    content = buffer.getvalue()
    return lambda: io.BytesIO(content)


def seen_and_heard(path):
    """Return (colour of each frame, times of the frames, samples, their rate)."""
    with av.open(str(path)) as container:
        frames = [(frame.time, frame.to_ndarray(format="rgb24").mean((0, 1))) for frame in container.decode(video=0)]
    with av.open(str(path)) as container:
        if not container.streams.audio:
            return [colour for _, colour in frames], [time for time, _ in frames], np.zeros(0), 0
        rate = container.streams.audio[0].sample_rate
        resampler = av.AudioResampler("fltp", "mono", rate)
        pieces = [piece.to_ndarray()[0] for frame in container.decode(audio=0) for piece in resampler.resample(frame)]
    return [colour for _, colour in frames], [time for time, _ in frames], np.concatenate(pieces), rate


def pitch_of(samples, rate):
    spectrum = np.abs(np.fft.rfft(samples))
    return np.argmax(spectrum) * rate / len(samples)


RED, GREEN, BLUE = (200, 20, 20), (20, 200, 20), (20, 20, 200)


def test_films_that_fit_together_are_copied_without_a_gap(tmp_path):
    films = [film(RED, tone=300), film(GREEN, 3, tone=600), film(BLUE, tone=900)]
    starts = stitch(films, tmp_path / "chapter.mp4")
    assert starts == [0, 2, 5]
    colours, times, samples, rate = seen_and_heard(tmp_path / "chapter.mp4")
    assert [int(np.argmax(colour)) for colour in colours] == [0] * 30 + [1] * 45 + [2] * 30
    assert times == pytest.approx([number / 15 for number in range(105)], abs=0.001)
    assert len(samples) / rate == pytest.approx(7, abs=0.1)
    for begin, tone in ((0.5, 300), (3, 600), (5.5, 900)):
        assert pitch_of(samples[int(begin * rate) : int((begin + 1) * rate)], rate) == pytest.approx(tone, abs=2)
    # What is copied is as small as its pieces.
    assert (tmp_path / "chapter.mp4").stat().st_size < 1.2 * sum(len(one().getvalue()) for one in films)


@pytest.mark.long
def test_a_film_with_other_sides_rate_or_sound_is_made_to_fit(tmp_path):
    films = [film(RED), film(GREEN, 2, (640, 360), 24, 16_000, 600), film(BLUE, sound_rate=0)]
    starts = stitch(films, tmp_path / "chapter.mp4")
    assert starts == pytest.approx([0, 2, 4], abs=0.05)
    colours, times, samples, rate = seen_and_heard(tmp_path / "chapter.mp4")
    assert [int(np.argmax(colours[index])) for index in (24, 72, 120)] == [0, 1, 2]
    assert len(times) == pytest.approx(144, abs=2)
    assert times == pytest.approx([number / 24 for number in range(len(times))], abs=0.002)
    assert pitch_of(samples[rate // 2 : rate], rate) == pytest.approx(440, abs=3)
    assert pitch_of(samples[int(2.5 * rate) : int(3.5 * rate)], rate) == pytest.approx(600, abs=3)
    assert np.abs(samples[int(4.5 * rate) :]).max() < 0.01


def test_films_without_sound_stay_without(tmp_path):
    stitch([film(RED, sound_rate=0), film(GREEN, sound_rate=0)], tmp_path / "chapter.mp4")
    colours, _, samples, _ = seen_and_heard(tmp_path / "chapter.mp4")
    assert (len(colours), len(samples)) == (60, 0)


def test_it_begins_to_play_before_it_is_loaded(tmp_path):
    stitch([film(RED), film(GREEN)], tmp_path / "chapter.mp4")
    content = (tmp_path / "chapter.mp4").read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")


@pytest.mark.parametrize("content", [b"", b"no film", film(RED)().getvalue()[:200]])
def test_what_is_no_film_is_an_error(content, tmp_path):
    with pytest.raises((av.FFmpegError, ValueError)):
        stitch([film(GREEN), lambda: io.BytesIO(content)], tmp_path / "chapter.mp4")


def test_films_that_do_not_begin_at_zero_lie_where_it_says(tmp_path):
    starts = stitch([film(RED, tone=300, begin=5), film(GREEN, tone=600, begin=5)], tmp_path / "chapter.mp4")
    assert starts == [0, 2]
    colours, times, samples, rate = seen_and_heard(tmp_path / "chapter.mp4")
    assert (len(colours), times[0]) == (60, pytest.approx(0, abs=0.01))
    assert len(samples) / rate == pytest.approx(4, abs=0.1)
    for second, tone in ((0.5, 300), (2.5, 600)):
        assert pitch_of(samples[int(second * rate) : int((second + 1) * rate)], rate) == pytest.approx(tone, abs=2)


def test_a_film_of_another_shape_is_not_stretched(tmp_path):
    stitch([film(RED), film(GREEN, size=(180, 400))], tmp_path / "chapter.mp4")
    with av.open(str(tmp_path / "chapter.mp4")) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    red = frames[10][..., 0] > 100
    assert frames[10].shape == (400, 180, 3)
    assert red.sum(0).max() == pytest.approx(180 * 9 / 16, abs=4)


def test_one_film_is_open_at_a_time(tmp_path):
    opened, most = [], 0

    class Counted(io.BytesIO):
        def close(self):
            if not self.closed:
                opened.pop()
            super().close()

    content = film(RED)().getvalue()

    def open_one():
        nonlocal most
        opened.append(1)
        most = max(most, len(opened))
        return Counted(content)

    stitch([open_one] * 5, tmp_path / "chapter.mp4")
    assert (most, opened) == (1, [])
