"""A book as files: what is published, named so that any player finds its way."""

import io
import json
import zipfile

import av
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from generation import store
from generation.commands import delete, import_book
from generation.commands.answers import Actor
from generation.cues import Cue, from_vtt, to_vtt
from generation.exporting.book import Export
from generation.exporting.writing import zip_chunks
from generation.importing.files import read_file, read_path
from generation.models import Artifact, ArtifactFile, Asset, Book, Scene
from tests.doubles.films import mp4
from tests.doubles.pictures import webp
from tests.doubles.sounds import mp3
from tests.factories.artifacts import publish
from tests.factories.bundles import bundle, chapter, scene
from tests.snapshot import snapshot

pytestmark = pytest.mark.django_db

STRANGE = 'Глава "1": ../a\\b* 🐳'


def vtt(text):
    return to_vtt([Cue(text, 0.1, 0.9)])


@pytest.fixture
def book():
    """Two chapters of two scenes and one; the last scene has nothing yet."""
    images = [{"id": "i1", "prompt": "a ship"}, {"id": "i2", "prompt": "the sea"}]
    first = chapter("c1", scene("s1", "One."), scene("s2", "Two.", images=images))
    second = {**chapter("c2", scene("s1", "Three.")), "title": STRANGE}
    parsed = read_file(bundle(first, second, id="whale", title="The Whale: a tale", author="Herman"), "x.zip")
    made = import_book.apply(import_book.Request(parsed, "whale"), Actor("ada"))
    for position in (1, 2):
        assets = {asset.stage: asset for asset in Asset.objects.filter(book=made["book"], position=position)}
        sound = (("main", "audio/mpeg", mp3()), ("subtitles", "text/vtt", vtt(f"Scene {position}.")))
        publish(assets["audio"], *sound)
        more = [("picture-2", "image/webp", webp())] if position == 2 else []
        publish(assets["image"], ("main", "image/webp", webp()), ("card", "image/webp", webp()), *more)
        publish(assets["video"], ("main", "video/mp4", mp4()), ("subtitles", "text/vtt", vtt(f"Scene {position}.")))
    return Book.objects.get(pk=made["book"])


FILES = {
    "001 Chapter c1/001.mp3",
    "001 Chapter c1/001.vtt",
    "001 Chapter c1/001.webp",
    "001 Chapter c1/001.mp4",
    "001 Chapter c1/002.mp3",
    "001 Chapter c1/002.vtt",
    "001 Chapter c1/002.webp",
    "001 Chapter c1/002-2.webp",
    "001 Chapter c1/002.mp4",
    "001 Chapter c1.mp4",
    "001 Chapter c1.vtt",
    "chapters/001.json",
    "chapters/002.json",
    "narration.m3u8",
    "video.m3u8",
    "book.json",
}


def export(book, target, capsys) -> dict:
    call_command("export_book", book.key, str(target), "--json")
    return json.loads(capsys.readouterr().out)


def files_in(folder) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_holds_all_that_is_published_and_says_what_is_missing(book, tmp_path, capsys):
    before = snapshot()
    told = export(book, tmp_path / "whale", capsys)
    assert files_in(tmp_path / "whale") == FILES
    assert (told["files"], told["missing"], told["problems"]) == (len(FILES), {"audio": 1, "image": 1, "video": 1}, [])
    assert told["bytes"] == sum(path.stat().st_size for path in (tmp_path / "whale").rglob("*") if path.is_file())
    assert (tmp_path / "whale" / "001 Chapter c1" / "001.mp3").read_bytes() == mp3()
    assert snapshot() == before


def test_the_films_of_a_chapter_are_one_film_with_its_subtitles(book, tmp_path, capsys):
    export(book, tmp_path / "whale", capsys)
    with av.open(str(tmp_path / "whale" / "001 Chapter c1.mp4")) as container:
        assert sum(1 for _ in container.decode(video=0)) == 10
    cues = from_vtt((tmp_path / "whale" / "001 Chapter c1.vtt").read_bytes())
    assert [(cue.text, round(cue.start, 1)) for cue in cues] == [("Scene 1.", 0.1), ("Scene 2.", 1.1)]


def test_playlists_name_files_that_are_there_in_reading_order(book, tmp_path, capsys):
    export(book, tmp_path / "whale", capsys)
    lines = (tmp_path / "whale" / "narration.m3u8").read_text().splitlines()
    assert lines == [
        "#EXTM3U",
        "#EXTINF:1,Chapter c1 · scene 1",
        "001 Chapter c1/001.mp3",
        "#EXTINF:1,Chapter c1 · scene 2",
        "001 Chapter c1/002.mp3",
    ]
    assert "001 Chapter c1/002.mp4" in (tmp_path / "whale" / "video.m3u8").read_text()


def test_an_export_can_be_imported_again(book, tmp_path, capsys):
    export(book, tmp_path / "whale", capsys)
    again = import_book.Request(read_path(tmp_path / "whale"), "whale", update=True)
    told = import_book.plan(again).answer()
    assert (told["kept"], told["changed"], told["new"], told["deleted"]) == (3, 0, 0, 0)


def test_a_chapter_without_scenes_is_left_out_and_a_long_scene_comes_back(book, tmp_path, capsys):
    delete.apply(delete.Request(delete.What.SCENE, (Scene.objects.get(position=3).pk,)), Actor("ada"))
    Scene.objects.filter(position=1).update(text="word " * 60_000)
    export(book, tmp_path / "whale", capsys)
    again = import_book.plan(import_book.Request(read_path(tmp_path / "whale"), "whale", update=True)).answer()
    assert (again["kept"], again["changed"], again["deleted"]) == (2, 0, 0)


def test_a_scene_that_moves_meanwhile_is_exported_once(book):
    files = iter(Export(book))
    names = [next(files)[0]]
    two = chapter("c1", scene("s1", "One."), scene("s2", "Two."))
    moved = bundle(chapter("c2", scene("s1", "Three.")), two, id="whale", title="The Whale")
    import_book.apply(import_book.Request(read_file(moved, "x.zip"), "whale", update=True), Actor("ada"))
    names += [name for name, _ in files]
    assert set(names) == FILES


def test_two_books_of_one_name_lie_in_two_folders():
    for number, title in enumerate(("X", "x", "X (2)", "CON")):
        parsed = read_file(bundle(chapter("c1", scene("s1", "One.")), title=title), "x.zip")
        import_book.apply(import_book.Request(parsed, f"k{number}"), Actor("ada"))
    with zipfile.ZipFile(io.BytesIO(b"".join(zip_chunks(map(Export, Book.objects.order_by("key")))))) as packed:
        folders = [name.split("/")[0] for name in packed.namelist() if name.endswith("/book.json")]
    assert folders == ["X", "x (2)", "X (2) (2)", "CON_"]


def test_a_zip_holds_the_same_in_one_folder(book, tmp_path, capsys):
    export(book, tmp_path / "whale.zip", capsys)
    with zipfile.ZipFile(tmp_path / "whale.zip") as packed:
        assert packed.testzip() is None
        assert {name.removeprefix("The Whale_ a tale/") for name in packed.namelist()} == FILES


def test_no_name_leads_out_or_is_refused_by_a_file_system(book, tmp_path, capsys):
    for asset in Asset.objects.filter(book=book, position=3, stage="audio"):
        publish(asset, ("main", "audio/mpeg", mp3()))
    export(book, tmp_path / "whale", capsys)
    assert files_in(tmp_path / "whale") - FILES == {"002 Глава _1__ .._a_b_ _/001.mp3"}


def test_what_is_out_of_date_is_there_and_told(book, tmp_path, capsys):
    Scene.objects.filter(position=1).update(content_version=2)
    told = export(book, tmp_path / "whale", capsys)
    assert told["out_of_date"] == {"audio": 1, "image": 1, "video": 1}


def test_a_file_that_is_gone_is_told_and_all_others_are_there(book, tmp_path, capsys):
    gone = ArtifactFile.objects.get(artifact__asset__position=2, artifact__asset__stage="video", role="main").name
    store.storage().delete(gone)
    told = export(book, tmp_path / "whale", capsys)
    assert told["problems"] == [f"{gone} is gone from the storage."]
    assert files_in(tmp_path / "whale") == FILES - {"001 Chapter c1/002.mp4"}
    with av.open(str(tmp_path / "whale" / "001 Chapter c1.mp4")) as container:
        assert sum(1 for _ in container.decode(video=0)) == 5


def test_a_film_that_does_not_decode_costs_only_the_chapters_film(book, tmp_path, capsys):
    asset = Asset.objects.get(position=2, stage="video")
    Artifact.objects.filter(asset=asset).first().files.get(role="main")
    file = ArtifactFile.objects.get(artifact=asset.published_id, role="main")
    with store.storage().open(file.name, "wb") as written:
        written.write(b"no film")
    told = export(book, tmp_path / "whale", capsys)
    assert "001 Chapter c1.mp4 was not made" in told["problems"][0]
    assert files_in(tmp_path / "whale") == FILES - {"001 Chapter c1.mp4", "001 Chapter c1.vtt"}


@pytest.mark.parametrize("name", ["there", "there.zip"])
def test_what_is_there_is_never_written_over(name, book, tmp_path):
    (tmp_path / name).write_text("mine")
    with pytest.raises(CommandError, match="exists. Nothing was written"):
        call_command("export_book", book.key, str(tmp_path / name))
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("name", ["whale", "whale.zip"])
def test_an_export_that_fails_leaves_nothing(name, book, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("generation.exporting.book._chapter_json", fail)
    with pytest.raises(CommandError, match="No space left"):
        call_command("export_book", book.key, str(tmp_path / name))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CommandError, match="There is no folder"):
        call_command("export_book", book.key, str(tmp_path / "no" / name))


def test_a_book_without_a_result_is_its_texts(tmp_path, capsys):
    made = import_book.apply(import_book.Request(read_file(b"Words.", "x.txt"), "x"), Actor("ada"))
    told = export(Book.objects.get(pk=made["book"]), tmp_path / "x", capsys)
    assert files_in(tmp_path / "x") == {"book.json", "chapters/001.json"}
    assert told["missing"] == {"audio": 1, "image": 1, "video": 1}


def body_of(response) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))


def test_the_admin_sends_selected_books_as_one_zip(book, admin_client):
    other = import_book.apply(import_book.Request(read_file(b"Words.", "x.txt"), "x"), Actor("ada"))["book"]
    selected = {"action": "export", "_selected_action": [book.pk]}
    response = admin_client.post("/admin/generation/book/", selected)
    assert response["Content-Disposition"] == 'attachment; filename="The Whale_ a tale.zip"'
    assert {name.split("/", 1)[1] for name in body_of(response).namelist()} == FILES
    selected["_selected_action"] = [book.pk, other]
    names = body_of(admin_client.post("/admin/generation/book/", selected)).namelist()
    assert {name.split("/")[0] for name in names} == {"The Whale_ a tale", "x"}


def test_the_api_sends_the_same_to_those_who_may_see_files(book, admin_client):
    response = admin_client.get(f"/api/v1/books/{book.pk}/export/")
    assert (response.status_code, response["Content-Type"]) == (200, "application/zip")
    assert {name.split("/", 1)[1] for name in body_of(response).namelist()} == FILES
    client = APIClient()
    client.force_login(User.objects.create_user("nobody"))
    assert client.get(f"/api/v1/books/{book.pk}/export/").status_code == 403
    assert admin_client.get("/api/v1/books/999999/export/").status_code == 404
