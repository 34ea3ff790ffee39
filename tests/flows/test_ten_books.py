"""Ten books as people have them: each becomes sensible chapters, and can be asked for."""

from collections.abc import Callable

import pytest
from django.core.management import call_command

from dispatch.models import Dispatch
from dispatch.tick import run_tick
from generation.commands import regenerate
from generation.importing.sentences import narration_s
from generation.importing.splitting import LONGEST_S, SHORTEST_S
from generation.models import Asset, Book, Target
from tests.factories.epubs import archive, files_of_epub2, files_of_epub3

pytestmark = pytest.mark.django_db(transaction=True)

ENGLISH = [
    "The wind rose in the evening, and the captain looked long at the dark water of the bay.",
    "“We shall have snow before the morning,” he said, and went below to look at the charts.",
    "Nobody answered him; the men sat in the light of one lamp and mended what the storm had torn.",
    "Far out a bell rang twice, and then there was nothing but the sea and the creaking of the ropes.",
]
RUSSIAN = [
    "Наступил вечер, и путник вышел на дорогу, которая вела через поле к далёкому лесу.",
    "«К утру пойдёт снег», — подумал он и плотнее запахнул свой старый, выцветший плащ.",
    "В деревне уже зажигали огни, где-то лаяли собаки, и дым поднимался прямо в холодное небо.",
    "Он вспомнил свой дом, тёплую печь, голос матери и медленно пошёл дальше, не оглядываясь.",
]


def prose(sentences, paragraphs):
    return "\n\n".join(" ".join(sentences[number % 4 :] + sentences[: number % 4]) for number in range(paragraphs))


def book_of(sentences, *headings, paragraphs=6):
    return "\n\n\n".join(f"{heading}\n\n{prose(sentences, paragraphs)}" for heading in headings)


def html(paragraphs):
    return "".join(f"<p>{paragraph}</p>" for paragraph in prose(ENGLISH, paragraphs).split("\n\n"))


ENGLISH_THREE = ["Chapter 1", "Chapter 2. The Snow", "Chapter 3"]
RUSSIAN_THREE = ["Глава 1", "Глава 2", "Глава 3"]
PARTS = {"": "Loomings", "two": "The Carpet-Bag"}
EPUB2_BODY = f'<h1>Loomings</h1>{html(6)}<h1 id="two">The Carpet-Bag</h1>{html(6)}'
BOOKS: dict[str, tuple[str, Callable[[], bytes], list[str], str]] = {
    "EPUB 2": (
        "whale.epub",
        lambda: archive(files_of_epub2(EPUB2_BODY, {title: fragment for fragment, title in PARTS.items()})),
        ["Loomings", "The Carpet-Bag"],
        "en",
    ),
    "EPUB 3": (
        "whale.epub",
        lambda: archive(files_of_epub3({"Loomings": html(6), "The Carpet-Bag": html(6)})),
        ["Loomings", "The Carpet-Bag"],
        "en",
    ),
    "cp1251": ("road.txt", lambda: book_of(RUSSIAN, *RUSSIAN_THREE).encode("cp1251", "replace"), RUSSIAN_THREE, "ru"),
    "koi8-r": ("road.txt", lambda: book_of(RUSSIAN, *RUSSIAN_THREE).encode("koi8-r", "replace"), RUSSIAN_THREE, "ru"),
    "UTF-16 with BOM": ("road.txt", lambda: book_of(RUSSIAN, *RUSSIAN_THREE).encode("utf-16"), RUSSIAN_THREE, "ru"),
    "CRLF": ("sea.txt", lambda: book_of(ENGLISH, *ENGLISH_THREE).replace("\n", "\r\n").encode(), ENGLISH_THREE, "en"),
    "3 MB": (
        "sea.txt",
        lambda: book_of(ENGLISH, *(f"Chapter {number}" for number in range(1, 41)), paragraphs=210).encode(),
        [f"Chapter {number}" for number in range(1, 41)],
        "en",
    ),
    "one scene": ("note.txt", lambda: prose(ENGLISH, 1).encode(), [""], "en"),
    "no headings": ("sea.txt", lambda: prose(ENGLISH, 12).encode(), [""], "en"),
    "roman numerals": (
        "sea.txt",
        lambda: book_of(ENGLISH, "I", "II", "III", "IV", "V").encode(),
        ["I", "II", "III", "IV", "V"],
        "en",
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name == "3 MB" else []) for name in BOOKS]
)
def test_a_book_becomes_sensible_chapters_and_survives_a_regenerate(name, actor, hub, tmp_path):
    filename, content, titles, language = BOOKS[name]
    (tmp_path / filename).write_bytes(content())
    if name == "3 MB":
        assert (tmp_path / filename).stat().st_size > 3_000_000
    call_command("import_book", str(tmp_path / filename), "--key", name)
    book = Book.objects.get()
    assert [chapter.title for chapter in book.chapters.order_by("number")] == titles
    assert book.language == language
    texts = list(book.scenes.values_list("text", flat=True))
    assert all("�" not in text and "\r" not in text for text in texts)
    sentences = RUSSIAN if language == "ru" else ENGLISH
    # koi8-r has no typographic quotes; every word is there in every encoding.
    assert any(sentences[3] in text for text in texts)
    if name == "one scene":
        assert len(texts) == 1
    else:
        assert all(SHORTEST_S <= narration_s(text) <= LONGEST_S for text in texts)
    answer = regenerate.apply(regenerate.Request(book.pk), actor)
    assert answer["targets"] == 3 * len(texts)
    assert run_tick(hub).errors == []
    assert Dispatch.objects.filter(status="active").count() == min(8, len(texts)) + min(4, len(texts))
    assert Target.objects.filter(status="open").count() == 3 * len(texts)
    assert not Asset.objects.exclude(state__in=["pending", "generating"]).exists()
