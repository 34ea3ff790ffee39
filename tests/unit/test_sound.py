import numpy as np
import pytest

from dispatch.rendering.narration import assemble, sound
from dispatch.rendering.narration.sound import LOUDNESS_DBFS, Spoken
from generation.cues import Cue, from_vtt, to_vtt
from tests.doubles.sounds import RATE, tone


def decibels(samples):
    return 20 * np.log10(sound.speech_rms(samples, RATE))


@pytest.mark.parametrize("gain", [0.01, 0.2, 1.0, 4.0])
def test_every_voice_is_as_loud_as_the_others_and_never_clips(gain):
    levelled = sound.levelled(tone(1) * gain, RATE)
    assert abs(decibels(levelled) - LOUDNESS_DBFS) < 1
    assert np.abs(levelled).max() <= 1


def test_pauses_do_not_count_for_loudness():
    speech = tone(1)
    with_pauses = np.concatenate([speech, np.zeros(5 * RATE, np.float32), speech])
    assert abs(decibels(sound.levelled(with_pauses, RATE)) - LOUDNESS_DBFS) < 1


def test_peaks_bend_and_stay_below_full_scale():
    sharp = tone(1) * 0.02
    sharp[::5000] = 1.0
    assert 0.9 < np.abs(sound.levelled(sharp, RATE)).max() <= 1


def test_silence_stays_silence():
    assert sound.levelled(np.zeros(RATE, np.float32), RATE).max() == 0


@pytest.mark.parametrize("encode", [sound.encode_mp3, sound.encode_flac])
@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000])
@pytest.mark.parametrize("seconds", [0.3, 2.0, 7.77])
def test_what_is_encoded_decodes_at_its_length(encode, rate, seconds):
    samples = np.resize(tone(1), round(seconds * rate))
    decoded, found = sound.decode(encode(samples, rate))
    assert found == rate
    assert abs(len(decoded) / rate - seconds) < 0.06
    assert sound.speech_rms(decoded, rate) > 0.05


def test_cues_lie_where_the_pieces_lie():
    pieces = [Spoken("One.", tone(1), 0.5), Spoken("Two.", tone(2), 0.25)]
    whole, cues = sound.join(pieces, RATE, rests_at_end=False)
    assert [(cue.start, cue.end) for cue in cues] == [(0, 1), (1.5, 3.5)]
    assert len(whole) == 3.5 * RATE
    assert len(sound.join(pieces, RATE, rests_at_end=True)[0]) == 3.75 * RATE


def test_parts_are_joined_in_the_order_given_with_their_cues():
    parts = [
        {"main": sound.encode_flac(tone(1, hertz), RATE), "subtitles": to_vtt([Cue(name, 0.25, 0.75)])}
        for name, hertz in (("low", 220), ("high", 880))
    ]
    main, subtitles = assemble(parts)
    assert (main.content_type, subtitles.content_type) == ("audio/mpeg", "text/vtt")
    assert from_vtt(subtitles.content) == [Cue("low", 0.25, 0.75), Cue("high", 1.25, 1.75)]
    samples, _ = sound.decode(main.content)
    assert abs(len(samples) / RATE - 2) < 0.06
    first, second = (np.abs(np.fft.rfft(half)).argmax() * RATE / len(half) for half in np.array_split(samples, 2))
    assert (round(first, -1), round(second, -1)) == (220, 880)


def test_parts_of_another_hub_may_have_no_subtitles():
    (main,) = assemble([{"main": sound.encode_mp3(tone(1), RATE)}, {"main": sound.encode_mp3(tone(1), 16_000)}])
    assert abs(len(sound.decode(main.content)[0]) / RATE - 2.5) < 0.1
