"""Uploading a book in the admin: looked at first, saved when confirmed."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from generation.models import Asset, Book, Command, JournalEntry, Task
from tests.factories.epubs import SENTENCE, archive, files_of_epub3
from tests.flows.asking import stored_files
from tests.snapshot import snapshot

pytestmark = pytest.mark.django_db

PAGE = "/admin/generation/book/import/"
RUSSIAN = "Глава 1\n\nНаступил вечер. Путник вышел на дорогу."


def upload(client, content, name="whale.epub"):
    return client.post(PAGE, {"file": SimpleUploadedFile(name, content)}, follow=True)


def hidden(response) -> str:
    return re.search(r'name="upload" value="([^"]+)"', response.content.decode()).group(1)


def confirm(client, response, key="whale", encoding="", **fields):
    data = {"upload": hidden(response), "key": key, "encoding": encoding, **fields}
    return client.post(PAGE, data, follow=True)


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def whale() -> bytes:
    return archive(files_of_epub3({"Loomings": f"<p>{SENTENCE * 20}</p>", "The Spouter-Inn": "<p>Enter.</p>"}))


def test_the_books_page_leads_to_the_import(admin_client):
    assert PAGE in admin_client.get(reverse("admin:generation_book_changelist")).content.decode()
    assert "EPUB 2 or 3, plain text, or the .zip of a bundle." in text_of(admin_client.get(PAGE))


def test_an_upload_shows_chapters_and_scenes_and_saves_no_row(admin_client):
    admin_client.get(PAGE)
    before = snapshot()
    page = text_of(upload(admin_client, whale()))
    assert "The Whale by Herman Melville. Language: en." in page
    assert "2 chapters, 3 scenes, about 1.5 minutes" in page
    assert "1 · Loomings" in page
    assert "Nothing is saved yet." in page
    assert snapshot() == before


def test_a_confirmed_upload_becomes_a_book_in_the_operators_name_and_starts_nothing(admin_client):
    shown = upload(admin_client, whale())
    page = text_of(confirm(admin_client, shown, confirmed="yes"))
    assert "The Whale was imported: 2 chapters, 3 scenes. Nothing is generated yet." in page
    book = Book.objects.get()
    assert (book.key, book.chapters.count()) == ("whale", 2)
    assert JournalEntry.objects.get().actor == "admin"
    assert (Command.objects.get().kind, Task.objects.count()) == ("import", 0)
    assert set(Asset.objects.values_list("state", flat=True)) == {"new"}
    assert stored_files() == []


def test_a_text_that_is_misread_is_read_again_in_another_encoding_before_it_is_saved(admin_client):
    shown = upload(admin_client, RUSSIAN.encode("cp1251"), "дорога.txt")
    again = confirm(admin_client, shown, key="дорога", encoding="koi8-r")
    assert "Наступил" not in text_of(again)
    again = confirm(admin_client, again, key="дорога", encoding="cp1251")
    assert "Наступил вечер." in text_of(again)
    assert not Book.objects.exists()
    confirm(admin_client, again, key="дорога", encoding="cp1251", confirmed="yes")
    assert "Наступил вечер." in Book.objects.get().scenes.get().text


def test_a_text_that_does_not_say_its_language_is_looked_at(admin_client):
    text = "Als Gregor Samsa eines Morgens aus unruhigen Träumen erwachte, fand er sich in seinem Bett verwandelt. " * 3
    assert "Language: de." in text_of(upload(admin_client, text.encode(), "samsa.txt"))


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (b"", "x.txt", "contains no text"),
        (b"PK\x03\x04broken", "x.epub", "is no EPUB"),
        (archive({"a": "b"}), "x.epub", "is no EPUB"),
        (b"a\x00b", "x.txt", "NUL"),
    ],
)
def test_a_file_that_cannot_be_imported_is_refused_in_words_and_nothing_is_kept(content, name, reason, admin_client):
    assert reason in text_of(upload(admin_client, content, name))
    assert not Book.objects.exists()
    assert stored_files() == []


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"key": ""}, "This field is required"),
        ({"key": "a\nb"}, "cannot be printed"),
        ({"key": "k" * 201}, "at most 200"),
        ({"encoding": "cp1251"}, "leave the encoding out"),
    ],
)
def test_a_confirmation_that_makes_no_sense_is_refused_in_words(fields, reason, admin_client):
    shown = upload(admin_client, whale())
    assert reason in text_of(confirm(admin_client, shown, confirmed="yes", **fields))
    assert not Book.objects.exists()


def test_a_key_that_is_taken_is_refused_and_the_upload_stays(admin_client):
    shown = upload(admin_client, whale())
    confirm(admin_client, shown, confirmed="yes")
    shown = upload(admin_client, whale())
    refused = confirm(admin_client, shown, confirmed="yes")
    assert "There is already a book with the key" in text_of(refused)
    assert "1 · Loomings" in text_of(refused)
    confirm(admin_client, refused, key="another", confirmed="yes")
    assert set(Book.objects.values_list("key", flat=True)) == {"whale", "another"}


@pytest.mark.parametrize("token", ["", "nonsense", "eyJhIjoxfQ:1:x"])
def test_an_upload_that_is_not_ours_or_gone_is_refused_in_words(token, admin_client):
    page = text_of(admin_client.post(PAGE, {"upload": token, "key": "x", "confirmed": "yes"}, follow=True))
    assert "This upload is gone. Nothing was saved." in page


def test_without_the_permission_it_is_hidden_and_forbidden(client):
    client.force_login(User.objects.create_user("ada", is_staff=True))
    assert client.get(PAGE).status_code == 403
    assert upload(client, whale()).status_code == 403
    assert stored_files() == []


def test_text_of_a_book_is_never_mark_up(admin_client):
    files = files_of_epub3({"One": "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"})
    page = upload(admin_client, archive(files)).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page


def test_an_update_shows_what_it_keeps_and_deletes_before_it_is_done(admin_client):
    confirm(admin_client, upload(admin_client, whale()), confirmed="yes")
    changed = archive(files_of_epub3({"Loomings": f"<p>{SENTENCE * 20}</p>", "Another": "<p>Something else.</p>"}))
    shown = upload(admin_client, changed)
    assert "There is already a book with the key" in text_of(shown)
    asked = confirm(admin_client, shown, update="on", confirmed="Import")
    assert "Confirm once more." in text_of(asked)
    assert "2 chapters, 3 scenes (2 kept, 0 changed, 1 new), 1 deleted" in text_of(asked)
    assert Book.objects.get().chapters.filter(title="Another").count() == 0
    token = re.search(r'name="shown" value="([^"]+)"', asked.content.decode()).group(1)
    done = confirm(admin_client, asked, update="on", shown=token, confirmed="Update")
    assert "The Whale was updated" in text_of(done)
    assert Book.objects.get().chapters.filter(title="Another").count() == 1


def test_an_update_of_a_book_that_is_not_there_is_refused_in_words(admin_client):
    shown = upload(admin_client, whale())
    page = confirm(admin_client, shown, update="on", confirmed="Update")
    assert "There is no book with the key" in text_of(page)
    assert not Book.objects.exists()
