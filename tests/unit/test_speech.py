"""What a voice gets to read."""

import io
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dispatch.rendering import voice_engine
from dispatch.rendering.narration.speaking import _pieces
from dispatch.rendering.narration.speech import PART_S, PIECE_CHARACTERS, TOKEN_CHARACTERS, clean, parts_of, pieces_of
from generation.importing.languages import language_of
from generation.importing.sentences import narration_s

GERMAN = (
    "Als Gregor Samsa eines Morgens aus unruhigen Träumen erwachte, fand er sich in seinem Bett zu einem ungeheueren "
    "Ungeziefer verwandelt. Er lag auf seinem panzerartig harten Rücken und sah, wenn er den Kopf ein wenig hob, "
    "seinen gewölbten, braunen Bauch."
)


def texts(text):
    return [piece.text for piece in pieces_of(text)]


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("<p>One <b>bold</b> word.</p>", ["One bold word."]),
        ("See https://example.org/a?b=1 for more.", ["See for more."]),
        ("A\x00nul and a \ud800surrogate.", ["A nul and a surrogate."]),
        ("Fish &amp; chips.", ["Fish & chips."]),
        ("If a < b and c > d then e.", ["If a < b and c > d then e."]),
        ("He came. She went.\n\nNight.", ["He came.", "She went.", "Night."]),
        ("* * *\n\nMorning.", ["Morning."]),
        ("won\u00adder\u200bful\u202e", ["wonderful"]),
        ("<script>alert('x')</script>Text.<!-- a note -->", ["Text."]),
        ("请看https://example.com/页面，然后走。", ["请看 页面，然后走。"]),
        ("Look at www.foo.com(and then the rest).", ["Look at (and then the rest)."]),
        ("½ of it, 5²", ["1⁄2 of it, 52"]),
        ("1" * 18, ["1111 1111 1111 1111 11"]),
    ],
)
def test_what_nobody_would_read_aloud_is_left_out(text, spoken):
    assert texts(text) == spoken


@pytest.mark.parametrize("text", ["", " \n ", "…!?", "🐳🌊", "<br><br>", "https://example.org/"])
def test_without_a_word_there_is_nothing_to_speak(text):
    assert pieces_of(text) == []
    assert len(parts_of(text)) == 1


@pytest.mark.parametrize("text", ["word " * 4000, "a" * 3000, "one, two; " * 2000, "語" * 5000, "Ж" * 41])
def test_no_piece_and_no_token_is_longer_than_an_engine_bears(text):
    for piece in texts(text):
        assert 0 < len(piece) <= PIECE_CHARACTERS
        assert max(map(len, piece.split())) <= TOKEN_CHARACTERS


@given(st.text(max_size=2000))
def test_every_letter_is_spoken_once_and_in_order(text):
    spoken = "".join("".join(piece.split()) for piece in texts(text))
    written = "".join(clean(text).split())
    assert [letter for letter in spoken if letter.isalnum()] == [letter for letter in written if letter.isalnum()]


@pytest.mark.parametrize(
    "text", ["No. 1, " * 30_000, "Mr. " * 50_000, "a." * 100_000, "1" * 200_000, "\u00ad" * 200_000]
)
def test_a_long_odd_text_is_cut_in_time_that_grows_with_its_length(text):
    began = time.process_time()
    pieces_of(text)
    assert time.process_time() - began < 10


@given(st.lists(st.sampled_from(["A short one.", "Words and words " * 12 + ".", "\n\n", "Naïve café?"]), max_size=60))
@example(["A short one."] * 3 + ["Words and words " * 12 + "."] * 5 + ["Naïve café?"] * 2 + ["A short one."])
def test_parts_hold_all_pieces_in_order_and_none_is_too_long(sentences):
    text = " ".join(sentences)
    parts = parts_of(text)
    assert [piece for part in parts for piece in texts(part)] == texts(text)
    assert len(parts) == 1 or all(narration_s(part) <= PART_S for part in parts)


@pytest.mark.parametrize(
    ("text", "book", "language"),
    [
        ("Call me Ishmael.", "en", "en"),
        ("Call me Ishmael.", "", "en"),
        (GERMAN, "", "de"),
        (GERMAN, "en", "en"),  # the book says so, and the letters are Latin
        ("Все счастливые семьи похожи друг на друга.", "en", "ru"),
        ("Все щасливі сім'ї", "uk", "uk"),
        ("天地玄黄，宇宙洪荒。", "en", "zh"),
        ("これはペンです。漢字。", "", "ja"),
        ("בראשית ברא אלוהים", "", "he"),
        ("كان يا ما كان", "fr", "ar"),
        ("Ηταν μια φορά", "", "el"),
        ("1984", "de", "de"),
        ("Ekki múkk.", "is", "is"),
        ("Hello there", "en-GB", "en"),
    ],
)
def test_the_language_is_the_books_unless_its_letters_say_otherwise(text, book, language):
    assert language_of(text, book) == language


def test_a_sentence_the_engine_cannot_read_is_mute_and_the_others_are_heard(monkeypatch, capsysbinary):
    def speak(text):
        if text == "bad":
            raise ValueError("no such sound")
        return b"\x01\x00" * 10

    monkeypatch.setitem(voice_engine.ENGINES, "test", lambda voice, speed: (16_000, speak))
    monkeypatch.setattr("sys.stdin", io.StringIO('["good", "bad", "good"]'))
    monkeypatch.setattr(voice_engine, "die_with_parent", lambda pid: None)
    voice_engine.main("test", "", "100", "1")
    spoken = [len(samples) for _, samples in _pieces(capsysbinary.readouterr().out)]
    assert spoken == [10, 0, 10]
