from hypothesis import given
from hypothesis import strategies as st

from generation.cues import LINE_CHARACTERS, LINES, Cue, from_vtt, to_vtt

words = st.lists(st.text(st.characters(categories=["L", "Nd", "P"]), min_size=1, max_size=20), min_size=1, max_size=60)


def test_a_sentence_is_shown_in_cues_of_two_lines_as_long_as_they_are_read():
    text = "Some years ago, never mind how long precisely, having little or no money in my purse, I would sail."
    shown = from_vtt(to_vtt([Cue(text, 1.0, 7.0)]))
    assert " ".join(cue.text for cue in shown) == text
    assert (shown[0].start, shown[-1].end) == (1.0, 7.0)
    assert all(cue.end == following.start for cue, following in zip(shown, shown[1:], strict=False))
    for block in to_vtt([Cue(text, 1.0, 7.0)]).decode().split("\n\n")[1:]:
        lines = block.strip().split("\n")[1:]
        assert len(lines) <= LINES
        assert max(map(len, lines)) <= LINE_CHARACTERS


def test_signs_of_the_format_inside_a_text_do_not_break_it():
    assert from_vtt(to_vtt([Cue("<i> & --> </i>", 0, 1)])) == [Cue("<i> & --> </i>", 0, 1)]


@given(words, st.floats(0, 36_000), st.floats(0.1, 60))
def test_what_is_written_is_read_again(words, start, length):
    text = " ".join(words)
    shown = from_vtt(to_vtt([Cue(text, start, start + length)]))
    assert " ".join(cue.text for cue in shown).replace(" ", "") == text.replace(" ", "")
    assert abs(shown[0].start - start) < 0.001
    assert abs(shown[-1].end - start - length) < 0.001
