import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.exceptions import ImportRefused
from generation.importing.text import LARGEST_FILE_BYTES, is_heading, read_text

RUSSIAN = (
    "Глава 1. Дорога\n\nНаступил вечер, и усталый путник вышел на дорогу, которая вела через старый лес.\n\n"
    "Глава 2\n\nУтром он увидел город и реку, над которой поднимался туман."
)


def titles(parsed):
    return [chapter.title for chapter in parsed.chapters]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1251", "koi8-r"])
def test_a_russian_book_is_read_in_any_usual_encoding(encoding):
    parsed = read_text(RUSSIAN.encode(encoding), "book.txt")
    assert titles(parsed) == ["Глава 1. Дорога", "Глава 2"]
    assert parsed.chapters[1].paragraphs == ("Утром он увидел город и реку, над которой поднимался туман.",)


def test_a_given_encoding_overrides_the_detection():
    data = "Straße".encode("latin-1")
    assert read_text(data, "book.txt", "latin-1").chapters[0].paragraphs == ("Straße",)


def test_the_header_gives_title_author_and_language():
    parsed = read_text(b"Title: The Whale\nAuthor: H. M.\nLanguage: English\n\nCall me.", "x.txt")
    assert (parsed.title, parsed.author, parsed.language) == ("The Whale", "H. M.", "en")


def test_without_a_header_the_file_name_is_the_title():
    assert read_text(b"Some words.", "my_first_book.txt").title == "my first book"


def test_a_line_alone_before_the_first_heading_is_the_title_and_no_chapter():
    parsed = read_text("Дом у реки\n\nГлава 1\n\nНаступил вечер.".encode(), "dom.txt")
    assert (parsed.title, titles(parsed)) == ("Дом у реки", ["Глава 1"])


def test_a_sentence_before_the_first_heading_is_text():
    assert titles(read_text(b"It had begun.\n\nChapter 1\n\nIt went on.", "x.txt")) == ["", "Chapter 1"]


def test_what_project_gutenberg_puts_around_a_text_is_left_out():
    text = (
        "Title: X\n\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nThe story.\n\n"
        "*** END OF THE PROJECT GUTENBERG EBOOK X ***\n\nThe licence."
    )
    assert [chapter.paragraphs for chapter in read_text(text.encode(), "x.txt").chapters] == [("The story.",)]


def test_a_table_of_contents_makes_no_chapters():
    text = "Chapter 1\n\nChapter 2\n\nChapter 1\n\nIt began.\n\nChapter 2\n\nIt ended."
    assert titles(read_text(text.encode(), "x.txt")) == ["Chapter 1", "Chapter 2"]


def test_windows_line_ends_and_wrapped_lines_become_whole_paragraphs():
    parsed = read_text(b"First line\r\nsecond line.\r\n\r\nNext.", "x.txt")
    assert parsed.chapters[0].paragraphs == ("First line second line.", "Next.")


@pytest.mark.parametrize(
    "line",
    [
        "CHAPTER 1. Loomings.",
        "Chapter IV",
        "Глава первая",
        "PROLOGUE",
        "Kapitel 3: Das Meer",
        "Part the First: The Sea",
    ],
)
def test_headings_are_recognised(line):
    assert is_heading(line)


@pytest.mark.parametrize(
    "line",
    [
        "Part of the ship was gone.",
        "Call me Ishmael.",
        "Chapter houses were built in the town.",
        "Letter — she never wrote one.",
        "Act now.",
        "Book - he said, and gave it back to me.",
        "Introduction. He was born in 1901 in a small town.",
    ],
)
def test_sentences_are_no_headings(line):
    assert not is_heading(line)


def test_numbers_are_headings_in_a_row_and_words_alone():
    row = "I.\n\nFirst.\n\nII.\n\nSecond.\n\nIII.\n\nThird."
    assert titles(read_text(row.encode(), "x.txt")) == ["I.", "II.", "III."]
    alone = read_text(b"He asked who did it.\n\nI.\n\nAnd how often?\n\n42.", "x.txt")
    assert alone.chapters[0].paragraphs == ("He asked who did it.", "I.", "And how often?", "42.")


def test_lines_of_asterisks_that_are_not_project_gutenbergs_lose_no_text():
    text = b"One.\n\n*** End of part one ***\n\nTwo.\n\n*** Start of part two ***\n\nThree."
    assert len(read_text(text, "x.txt").chapters[0].paragraphs) == 5


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (b"", None, "no text"),
        (b" \n\n ", None, "no text"),
        (b"a\x00b", None, "NUL"),
        (b"\xff\xfe\x00", "utf-8", "not utf-8"),
        (b"text", "klingon", "no encoding called 'klingon'"),
        (b"x" * (LARGEST_FILE_BYTES + 1), None, "is the most"),
    ],
)
def test_a_file_that_is_no_book_is_refused_with_the_reason(data, encoding, message):
    with pytest.raises(ImportRefused, match=message):
        read_text(data, "x.txt", encoding)


@pytest.mark.parametrize("before", ["", "\n \n" * 9000])
@pytest.mark.parametrize("between", ["\n", "\n" + " \n" * 9000])
@pytest.mark.parametrize("after", ["", "\n" * 20000])
def test_runs_of_blank_lines_of_any_length_are_read_in_one_go(before, between, after):
    text = f"{before}First.{between}Second.{after}"
    assert len(read_text(text.encode(), "x.txt").chapters) == 1


@pytest.mark.parametrize("encoding", ["utf-7", "unicode_escape"])
def test_an_encoding_that_gives_half_characters_is_refused(encoding):
    with pytest.raises(ImportRefused, match="half characters"):
        read_text({"utf-7": b"+2AA-", "unicode_escape": rb"a \ud800"}[encoding], "x.txt", encoding)


def test_a_name_of_an_encoding_that_cannot_be_one_is_refused():
    with pytest.raises(ImportRefused, match="encoding"):
        read_text(b"text", "x.txt", "utf\x00-8")


def test_a_file_name_that_is_no_utf_8_still_gives_a_title():
    assert read_text(b"text", "caf\udce9.txt").title == "caf?"


@given(st.binary(max_size=400))
def test_any_bytes_are_a_book_or_a_refusal(data):
    try:
        parsed = read_text(data, "x.txt")
    except ImportRefused:
        return
    assert all(chapter.paragraphs for chapter in parsed.chapters)
