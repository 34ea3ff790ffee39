"""Any name, of a book, a chapter, a scene, a picture or a file, through import, API, admin, export and download."""

import io
import json
import zipfile
from itertools import cycle
from pathlib import PurePath

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from dispatch.tick import run_tick
from generation.models import ArtifactFile, Asset, Book, Scene
from tests.doubles.pictures import deliver_all
from tests.factories.bundles import bundle, chapter, scene
from tests.flows.test_scenarios_of_names_and_size import NAMES, REFUSED
from tests.integration.test_import_admin import confirm, upload
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = ("book", "chapter", "scene", "asset", "task", "command", "journalentry")


def content_named(name) -> bytes:
    """Return a bundle in which everything has this name."""
    images = [{"id": name, "prompt": name}]
    return bundle(chapter(name, scene(name, "The ship sails.", title=name, images=images)), id=name, title=name)


def by_terminal(name, folder, client, capsys) -> None:
    file = folder / "x.zip"
    file.write_bytes(content_named(name))
    call_command("import_book", str(file), "--json")
    assert json.loads(capsys.readouterr().out)["key"] == name


def by_api(name, folder, client, capsys) -> None:
    body = {"file": SimpleUploadedFile(f"{name[:50]}.zip".replace("/", "_"), content_named(name))}
    assert client.post("/api/v1/imports/", body).json()["key"] == name


def by_admin(name, folder, client, capsys) -> None:
    shown = upload(client, content_named(name), f"{name[:50]}.zip".replace("/", "_"))
    assert confirm(client, shown, key=name, confirmed="yes").status_code == 200


@pytest.mark.parametrize(("name", "way"), sampled(zip(NAMES, cycle([by_terminal, by_api, by_admin]), strict=False)))
def test_48_any_name_goes_through_every_face(name, way, hub, tmp_path, admin_client, capsys):
    way(name, tmp_path, admin_client, capsys)
    book = Book.objects.get()
    row = Scene.objects.select_related("chapter").get()
    assert (book.key, row.chapter.key, row.key, row.title) == (name, name, name, name)
    address = f"/api/v1/books/{book.pk}/"
    assert admin_client.post(f"{address}regenerate/", {"stages": ["image"]}, "application/json").status_code == 200
    run_tick(hub)
    deliver_all()
    assert Asset.objects.get(stage="image").state == "ready"
    for page in ("", "scenes/", "progress/", "layers/"):
        assert admin_client.get(f"{address}{page}").status_code == 200
    for page in PAGES:
        assert admin_client.get(f"/admin/generation/{page}/", {"q": name}).status_code == 200
    file = ArtifactFile.objects.get(role="main")
    download = admin_client.get(f"/artifacts/{file.pk}/?download")
    assert download.status_code == 200
    assert "\n" not in download["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(b"".join(admin_client.get(f"{address}export/").streaming_content))) as packed:
        for entry in packed.namelist():
            assert ".." not in PurePath(entry).parts
            assert not entry.startswith("/")
            assert all(len(part.encode()) < 256 for part in PurePath(entry).parts)
    call_command("export_book", name, str(tmp_path / "exported"))
    call_command("import_book", str(tmp_path / "exported"), "--update", "--json")
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["kept"], told["changed"], told["new"]) == (1, 0, 0)
    assert admin_client.post(f"{address}cancel/", {}, "application/json").status_code == 200


# Half a character cannot be sent in a form: what is no UTF-8 arrives as question marks.
@pytest.mark.parametrize("name", [name for name in REFUSED if name and name != "\ud800"])
def test_48_a_name_that_cannot_be_one_is_refused_by_every_face_and_nothing_is_saved(name, admin_client, tmp_path):
    body = {"file": SimpleUploadedFile("x.txt", b"The ship sails."), "key": name}
    response = admin_client.post("/api/v1/imports/", body)
    assert (response.status_code, bool(response.json()["error"]["message"])) == (400, True)
    page = confirm(admin_client, upload(admin_client, b"The ship sails.", "x.txt"), key=name, confirmed="yes")
    assert page.status_code == 200
    with pytest.raises(CommandError):
        call_command("export_book", name, str(tmp_path / "exported"))
    assert not Book.objects.exists()


@pytest.mark.parametrize("name", [name for name in REFUSED if name.strip()])
@pytest.mark.parametrize("place", ["book", "chapter", "scene", "image"])
def test_48_a_bundle_with_a_name_that_cannot_be_one_is_refused_and_nothing_is_saved(name, place, admin_client):
    names = {"book": "b", "chapter": "c", "scene": "s", "image": "i", place: name}
    images = [{"id": names["image"], "prompt": "a ship"}]
    content = bundle(chapter(names["chapter"], scene(names["scene"], images=images)), id=names["book"])
    response = admin_client.post("/api/v1/imports/", {"file": SimpleUploadedFile("x.zip", content)})
    # A line break is no sensible name; where a name is only the file's own, it is kept as data.
    if name == "a\nb" and place != "book":
        assert response.status_code == 201
        return
    assert (response.status_code, response.json()["error"]["code"]) == (400, "import_refused")
    assert not Book.objects.exists()
