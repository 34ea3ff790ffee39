"""Files in ranges: what a browser needs to seek."""

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from generation import store
from generation.admin.ranges import Unsatisfiable, parse_range
from generation.models import Artifact, ArtifactFile
from tests.doubles.films import mp4
from tests.factories.books import make_book

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(client):
    user = User.objects.create_user("ada", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_artifact"))
    client.force_login(user)
    return client


@pytest.fixture
def file():
    book = make_book(scenes=1, title="Ahab's Tale: ½ / \\ “quoted”")
    asset = book.assets.get(stage="video")
    stored = store.save(asset.pk, "d" * 32, "g1", "main", "video/mp4", mp4())
    artifact = Artifact.objects.create(
        asset=asset, version=1, dispatch_id="d" * 32, content_version=1, audio_config_version=1
    )
    return ArtifactFile.objects.create(artifact=artifact, **stored.as_json())


def get(client, file, **headers):
    return client.get(reverse("artifact-file", args=[file.pk]), headers=headers)


def body(response):
    return b"".join(response.streaming_content)


def test_the_whole_file_says_that_it_can_be_sent_in_parts(viewer, file):
    response = get(viewer, file)
    assert (response.status_code, response["Accept-Ranges"], body(response)) == (200, "bytes", mp4())
    assert (response["Content-Length"], response["Content-Type"]) == (str(len(mp4())), "video/mp4")


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [("bytes=0-", 0, -1), ("bytes=100-199", 100, 199), ("bytes=-50", -50, -1), ("bytes=0-99999999", 0, -1)],
)
def test_a_range_is_sent_as_206(asked, first, last, viewer, file):
    size = len(mp4())
    start, end = first % size, last % size
    response = get(viewer, file, range=asked)
    assert (response.status_code, body(response)) == (206, mp4()[start : end + 1])
    assert response["Content-Range"] == f"bytes {start}-{end}/{size}"
    assert response["Content-Length"] == str(end - start + 1)


@pytest.mark.parametrize("asked", ["bytes=99999999-", "bytes=-0"])
def test_a_range_after_the_end_is_416_and_says_the_size(asked, viewer, file):
    response = get(viewer, file, range=asked)
    assert (response.status_code, response["Content-Range"]) == (416, f"bytes */{len(mp4())}")


@pytest.mark.parametrize(
    "asked", ["bytes=5-2", "bytes=0-1,5-9", "lines=1-2", "bytes=-", "bytes=a-b", "bytes=" + "9" * 99]
)
def test_what_is_no_single_range_is_answered_with_the_whole_file(asked, viewer, file):
    assert get(viewer, file, range=asked).status_code == 200


def test_a_part_of_another_version_is_never_stitched_to_this_one(viewer, file):
    tag = get(viewer, file)["ETag"]
    assert get(viewer, file, range="bytes=0-9", if_range=tag).status_code == 206
    assert get(viewer, file, range="bytes=0-9", if_range='"another"').status_code == 200


def test_a_copy_that_is_current_is_not_sent_again(viewer, file):
    assert get(viewer, file, if_none_match=get(viewer, file)["ETag"]).status_code == 304


def test_a_head_has_no_body(viewer, file):
    response = viewer.head(reverse("artifact-file", args=[file.pk]), headers={"range": "bytes=0-9"})
    assert (response.status_code, response["Content-Length"]) == (200, str(len(mp4())))


def test_a_part_is_as_private_as_the_whole(client, file):
    assert get(client, file, range="bytes=0-9").status_code == 403


def test_a_download_has_a_name_that_any_disk_takes(viewer, file):
    response = viewer.get(reverse("artifact-file", args=[file.pk]) + "?download")
    assert response["Content-Disposition"].startswith("attachment; filename")
    assert "/" not in response["Content-Disposition"].replace("UTF-8''", "")
    assert "video.mp4" in response["Content-Disposition"]


def test_a_web_server_in_front_is_told_which_file_to_send(viewer, file, settings):
    settings.ARTIFACT_ACCEL_PREFIX = "/protected/"
    response = get(viewer, file, range="bytes=0-9")
    assert (response.status_code, response.content) == (200, b"")
    assert response["X-Accel-Redirect"] == f"/protected/{file.name}"


def test_a_web_server_in_front_is_not_told_for_those_who_may_not_see_it(client, file, settings):
    settings.ARTIFACT_ACCEL_PREFIX = "/protected/"
    response = get(client, file)
    assert (response.status_code, "X-Accel-Redirect" in response) == (403, False)


def test_a_file_that_is_gone_is_404(viewer, file):
    store.storage().delete(file.name)
    assert get(viewer, file, range="bytes=0-9").status_code == 404


@given(st.integers(0, 1000), st.one_of(st.none(), st.integers(0, 1200)), st.one_of(st.none(), st.integers(0, 1200)))
def test_a_range_is_always_inside_the_file(size, first, last):
    header = f"bytes={'' if first is None else first}-{'' if last is None else last}"
    try:
        found = parse_range(header, size)
    except Unsatisfiable:
        return
    if found is not None:
        assert 0 <= found[0] <= found[1] < size
