import json
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from dispatch.demo.setting_up import ensure_sample
from generation.commands import import_book
from generation.commands.answers import Actor
from generation.exceptions import ImportRefused
from generation.importing.files import read_file
from generation.importing.sentences import narration_s
from generation.importing.splitting import LONGEST_S, SHORTEST_S
from generation.importing.text import read_text
from generation.lifecycle import State
from generation.models import Book, Command, Task
from tests.doubles.pictures import webp
from tests.factories.epubs import SENTENCE, archive, files_of_epub3
from tests.flows.asking import stored_files

pytestmark = pytest.mark.django_db

STRANGE_KEYS = ["a:b", "🫨", "a/b", "..", "%2F", "a b", "+", "#", "*", "[x]", "🐳👨‍👩‍👧", "مرحبا", "k" * 200]


def imported(book, key="x"):
    return Book.objects.get(pk=import_book.apply(import_book.Request(book, key), Actor("ada"))["book"])


def parsed():
    return read_text(b"Chapter 1\n\nIt was night. The sea was dark.\n\nChapter 2\n\nIt was day.", "x.txt")


def test_an_import_makes_chapters_scenes_and_one_asset_per_stage_and_starts_nothing():
    book = imported(parsed(), "x")
    assert list(book.chapters.values_list("number", "title")) == [(1, "Chapter 1"), (2, "Chapter 2")]
    assert list(book.scenes.values_list("position", "number", "text")) == [
        (1, 1, "It was night. The sea was dark."),
        (2, 1, "It was day."),
    ]
    assert set(book.assets.values_list("stage", "position", "state")) == {
        (stage, position, State.NEW) for stage in ("audio", "image", "video") for position in (1, 2)
    }
    assert not Task.objects.exists()
    command = Command.objects.get()
    assert (command.kind, command.actor_name, command.book) == ("import", "ada", book)


@pytest.mark.parametrize("key", STRANGE_KEYS)
def test_any_printable_text_is_a_key(key):
    assert imported(parsed(), key).key == key


@pytest.mark.parametrize("key", ["", "  ", "a\x00b", "\ud800", "k" * 201, "a\nb", "a\u2028b"])
def test_a_key_that_is_no_printable_text_is_refused_and_leaves_nothing(key):
    with pytest.raises(ImportRefused):
        imported(parsed(), key)
    assert not Book.objects.exists()


def test_a_key_that_is_taken_is_refused():
    imported(parsed(), "x")
    with pytest.raises(ImportRefused, match="already a book with the key 'x'"):
        imported(parsed(), "x")
    assert Book.objects.count() == 1


def test_the_sample_is_three_chapters_of_scenes_of_20_to_60_seconds():
    book = ensure_sample()
    assert (book.author, book.language, book.chapters.count()) == ("Herman Melville", "en", 3)
    assert all(SHORTEST_S <= narration_s(text) <= LONGEST_S for text in book.scenes.values_list("text", flat=True))
    assert ensure_sample() == book


def test_the_command_line_imports_a_file_and_says_what_came_of_it(tmp_path, capsys):
    file = tmp_path / "дорога.txt"
    file.write_bytes("Глава 1\n\nНаступил вечер. Путник вышел на дорогу.".encode("cp1251"))
    call_command("import_book", str(file), "--json", "--encoding", "cp1251")
    told = json.loads(capsys.readouterr().out)
    assert (told["key"], told["chapters"], told["scenes"], told["encoding"]) == ("дорога", 1, 1, "cp1251")


@pytest.mark.parametrize(("content", "message"), [(None, "cannot be read"), (b"", "contains no text")])
def test_the_command_line_refuses_a_bad_file_in_words(tmp_path, content, message):
    file = tmp_path / "x.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CommandError, match=message):
        call_command("import_book", str(file))
    assert not Book.objects.exists()


def test_an_epub_becomes_a_book_with_its_cover(tmp_path, capsys, admin_client):
    file = tmp_path / "whale.epub"
    chapters = dict.fromkeys(("Loomings", "The Spouter-Inn"), f"<p>{SENTENCE * 20}</p>")
    file.write_bytes(archive(files_of_epub3(chapters, cover=webp())))
    call_command("import_book", str(file), "--json")
    told = json.loads(capsys.readouterr().out)
    book = Book.objects.get()
    assert (told["key"], told["title"], told["chapters"]) == ("whale", "The Whale", 2)
    assert [chapter.title for chapter in book.chapters.all()] == ["Loomings", "The Spouter-Inn"]
    assert all(SHORTEST_S <= narration_s(text) <= LONGEST_S for text in book.scenes.values_list("text", flat=True))
    address = reverse("book-cover", args=[book.pk])
    assert address in admin_client.get("/admin/generation/book/").content.decode()
    response = admin_client.get(address)
    assert (response["Content-Type"], b"".join(response.streaming_content)) == ("image/webp", webp())
    admin_client.logout()
    assert admin_client.get(address).status_code == 403


@pytest.mark.parametrize("cover", [b"", b"no picture", webp()[:100], b"<svg/>"])
def test_a_cover_that_is_no_picture_is_left_out(cover):
    book = imported(replace(parsed(), cover=cover), "x")
    assert (book.cover, stored_files()) == ("", [])


def test_a_refused_import_leaves_no_cover():
    imported(parsed(), "x")
    with pytest.raises(ImportRefused):
        imported(replace(parsed(), cover=webp()), "x")
    assert stored_files() == []


def test_an_epub_takes_no_encoding():
    with pytest.raises(ImportRefused, match="leave the encoding out"):
        read_file(archive(files_of_epub3({"One": "<p>a</p>"})), "x.epub", "cp1251")
