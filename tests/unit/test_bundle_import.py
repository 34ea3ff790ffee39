"""Reading bundles, good ones and bad ones."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.exceptions import ImportRefused
from generation.importing.files import read_file, read_path
from generation.importing.parsed import ParsedImage
from tests.factories.bundles import TEXT, bundle, chapter, files_of_bundle, scene
from tests.factories.epubs import archive

ONE = chapter("c1", scene("s1"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_a_bundle_says_ids_titles_scenes_texts_and_prompts():
    images = [{"id": "i1", "prompt": "a ship at dawn"}, {"id": "i2", "prompt": "the harbour"}]
    two = chapter("c2", scene("s1", title="The Harbour", images=images), scene("s2"))
    book = read_file(bundle(ONE, two, id="whale", author="Herman Melville"), "x.zip")
    assert (book.key, book.title, book.author, book.language) == ("whale", "The Whale", "Herman Melville", "en")
    assert [(part.key, part.title, len(part.scenes)) for part in book.chapters] == [
        ("c1", "Chapter c1", 1),
        ("c2", "Chapter c2", 2),
    ]
    first = book.chapters[1].scenes[0]
    assert (first.key, first.title, first.text) == ("s1", "The Harbour", TEXT)
    assert first.images == (ParsedImage("i1", "a ship at dawn"), ParsedImage("i2", "the harbour"))


def test_chapters_come_in_the_order_people_count_or_as_the_book_names_them():
    many = [chapter(f"c{number}", scene("s")) for number in range(1, 12)]
    assert [part.key for part in read_file(bundle(*many), "x.zip").chapters] == [f"c{n}" for n in range(1, 12)]
    named = files_of_bundle(*many, chapters=["chapters/3.json", "chapters/1.json"])
    assert [part.key for part in read_file(archive(named), "x.zip").chapters] == ["c3", "c1"]


def test_any_name_of_a_file_is_sorted():
    names = ["10", "9", "1²2", "9" * 5000, "007", "aa", "b"]
    files = files_of_bundle()
    for name in names:
        files[f"chapters/{name}.json"] = json.dumps(chapter(name[:20], scene("s")))
    found = [part.key for part in read_file(archive(files), "x.zip").chapters]
    assert found == ["1²2", "007", "9", "10", "9" * 20, "aa", "b"]


def test_a_chapter_without_scenes_gives_a_text_that_is_cut():
    book = read_file(bundle({"id": "c1", "text": f"{TEXT}\n\n{TEXT}"}), "x.zip")
    assert (book.chapters[0].paragraphs, book.chapters[0].scenes) == ((TEXT, TEXT), ())


def test_a_folder_and_a_zip_of_the_folder_are_read_alike(tmp_path):
    folder = tmp_path / "whale"
    files = files_of_bundle(ONE)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(str(content))
    packed = archive({f"whale/{name}": content for name, content in files.items()})
    assert read_path(folder) == read_file(packed, "whale.zip") == read_file(bundle(ONE), "whale.zip")


def test_a_folder_does_not_follow_links_out_of_it(tmp_path):
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps(ONE))
    (tmp_path / "whale" / "chapters").mkdir(parents=True)
    (tmp_path / "whale" / "book.json").write_text(json.dumps({"title": "The Whale"}))
    (tmp_path / "whale" / "chapters" / "1.json").symlink_to(outside)
    with pytest.raises(ImportRefused, match="has no chapters"):
        read_path(tmp_path / "whale")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (files_of_bundle(), "has no chapters"),
        (files_of_bundle(ONE, title=""), "'book.json': title: This field may not be blank."),
        (files_of_bundle(ONE, tittle="x"), "'book.json': tittle: This field is not known."),
        (files_of_bundle(ONE, chapters=["../x.json"]), "leads out"),
        (files_of_bundle(ONE, chapters=["chapters/9.json"]), "which it does not hold"),
        (files_of_bundle(ONE, ONE), "Chapter 'c1' is there twice"),
        (files_of_bundle(ONE, chapters=["chapters/1.json"] * 2), "File 'chapters/1.json' is there twice"),
        (files_of_bundle(ONE, cover="cover.png"), "which it does not hold"),
        (files_of_bundle({"id": "c1"}), "either scenes or a text"),
        (files_of_bundle(chapter("c1", scene("s1"), text="x")), "either scenes or a text"),
        (files_of_bundle(chapter("c1", scene("s1"), scene("s1"))), "'chapters/1.json': Scene 's1' is there twice"),
        (files_of_bundle(chapter("c1", {"id": "s1"})), "scenes[0].text: This field is required."),
        (files_of_bundle(chapter("c1", scene("s1"), scene("s2", "a\x00b"))), "scenes[1].text: Null characters"),
        (files_of_bundle(chapter("c1", scene("s1", images=[{"id": "i"}]))), "scenes[0].images[0].prompt"),
        (files_of_bundle(chapter("c1", scene("s1", images=[{"id": "i", "prompt": "p"}] * 21))), "no more than 20"),
        (files_of_bundle(chapter("c1", "no scene")), "scenes[0]: Invalid data."),
        (files_of_bundle("no chapter"), "Invalid data."),
        ({"book.json": "{"}, "'book.json' is no JSON"),
        ({"book.json": "[" * 100_000}, "'book.json' is no JSON"),
        ({"book.json": b"\xff\xfe\xfa"}, "'book.json' is not UTF-8"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_place(files, reason):
    with pytest.raises(ImportRefused) as refused:
        read_file(archive(files), "x.zip")
    assert reason in str(refused.value)


@given(JSON, JSON)
def test_any_json_is_read_or_refused_and_nothing_else(book, part):
    with suppress(ImportRefused):
        read_file(archive({"book.json": json.dumps(book), "chapters/1.json": json.dumps(part)}), "x.zip")


def test_a_folder_without_a_book_is_refused(tmp_path):
    with pytest.raises(ImportRefused, match="holds no book.json"):
        read_path(tmp_path)
    with pytest.raises(ImportRefused, match="leave the encoding out"):
        read_path(tmp_path, "cp1251")
