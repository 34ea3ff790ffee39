import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dispatch.demo import setting_up
from dispatch.models import StageWorkers
from dispatch.rendering.registry import RENDERERS
from dispatch.tick import run_tick
from generation.commands import regenerate
from generation.lifecycle import State
from generation.models import Artifact, Asset, Command, LayerConfig, StoreIdentity, Task
from generation.stages import StageName
from tests.doubles.pictures import deliver_all, webp
from tests.factories.books import images_of, make_book

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/generation/book/"


@pytest.fixture
def operator(client):
    name, password = setting_up.ensure_operator()
    assert client.login(username=name, password=password)
    return client


@pytest.fixture
def viewer(client):
    user = User.objects.create_user("viewer", password="a-long-one", is_staff=True)  # noqa: S106
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_book", "view_asset"]))
    client.force_login(user)
    return client


def post(client, action, books, **fields):
    return client.post(LIST, {"action": action, "_selected_action": [book.pk for book in books], **fields}, follow=True)


def key_in(response) -> str:
    return re.search(r'name="key" value="([0-9a-f]+)"', response.content.decode()).group(1)


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_the_list_shows_what_each_stage_of_a_book_is_at(operator, hub, actor):
    book = make_book(scenes=3)
    Asset.objects.filter(pk=images_of(book)[0].pk).update(state=State.FAILED)
    assert "1 failed" in text_of(operator.get(LIST))
    assert "2 new" in text_of(operator.get(LIST))


def test_what_was_stopped_before_it_was_ever_made_reads_not_made(operator):
    book = make_book(scenes=2)
    post(operator, "regenerate_images", [book], confirmed="yes", key="a")
    post(operator, "stop_all", [book], confirmed="yes", key="b")
    assert "2 not made" in text_of(operator.get(LIST))
    assert "out of date" not in text_of(operator.get(LIST))


def test_the_plan_says_when_nothing_renders_a_stage_and_how_many_ready_ones_may_be_remade(operator, hub, monkeypatch):
    monkeypatch.delitem(RENDERERS, StageName.AUDIO)
    book = make_book(scenes=1)
    post(operator, "regenerate_images", [book], confirmed="yes", key="a")
    hub.worker_counts["audio"] = 0
    run_tick(hub)
    deliver_all()
    page = text_of(post(operator, "regenerate_all", [book]))
    assert "Audio 1 0 0 0 0: nothing renders it" in page
    assert "Image 0 1 0 0 1" in page
    assert "Also regenerate what is ready" in page


def test_what_is_ticked_shows_its_own_numbers_before_it_is_done(operator, hub):
    book = make_book(scenes=1)
    post(operator, "regenerate_images", [book], confirmed="yes", key="a")
    run_tick(hub)
    deliver_all()
    shown = re.search(
        r'name="shown" value="(\w+)"', post(operator, "regenerate_images", [book]).content.decode()
    ).group(1)
    again = post(operator, "regenerate_images", [book], confirmed="yes", key="b", rebuild_all="on", shown=shown)
    assert f"{book.title} Image 1 0 0 0 1" in text_of(again)
    assert images_of(book)[0].state == State.READY


def test_the_confirmation_shows_the_plan_and_changes_no_row(operator):
    book = make_book(scenes=3)
    StageWorkers.objects.create(stage="image", count=2)
    page = text_of(post(operator, "regenerate_images", [book]))
    assert "Will be generated Kept Already queued Left out Workers" in page
    assert f"{book.title} Image 3 0 0 0 2" in page
    assert not Command.objects.exists()


def test_a_confirmed_regenerate_queues_the_pictures_in_the_operators_name(operator):
    book = make_book(scenes=3)
    page = post(operator, "regenerate_images", [book], confirmed="yes", key="k1")
    assert "3 pictures queued" in text_of(page)
    assert Command.objects.get().actor_name == "operator"
    assert {asset.state for asset in images_of(book)} == {State.PENDING}
    assert not book.assets.exclude(stage="image").exclude(state=State.NEW).exists()


def test_a_double_click_makes_one_task(operator):
    book = make_book(scenes=1)
    key = key_in(post(operator, "regenerate_images", [book]))
    for _ in range(2):
        post(operator, "regenerate_images", [book], confirmed="yes", key=key, rebuild_all="on")
    assert Task.objects.count() == 1


def test_nothing_to_do_is_said_and_is_no_error(operator):
    book = make_book(scenes=1)
    post(operator, "regenerate_images", [book], confirmed="yes", key="a")
    assert "nothing to do" in text_of(post(operator, "regenerate_images", [book], confirmed="yes", key="b"))


def test_what_is_ready_is_regenerated_only_when_ticked(operator, hub):
    book = make_book(scenes=1)
    post(operator, "regenerate_images", [book], confirmed="yes", key="a")
    run_tick(hub)
    deliver_all()
    post(operator, "regenerate_images", [book], confirmed="yes", key="b")
    assert images_of(book)[0].state == State.READY
    post(operator, "regenerate_images", [book], confirmed="yes", key="c", rebuild_all="on")
    assert images_of(book)[0].state == State.PENDING


def test_a_layer_that_is_off_is_refused_with_the_reason(operator):
    book = make_book(scenes=1)
    LayerConfig.objects.create(book=book, stage="image", enabled=False)
    page = text_of(post(operator, "regenerate_images", [book]))
    assert "the command was not accepted. Nothing was started. Layer is off: image." in page


@pytest.mark.parametrize("selected", ["abc", "1e3", "9" * 40, "-1", "\x00"])
def test_a_selection_that_names_no_book_is_refused_in_words(operator, selected):
    make_book(scenes=1)
    fields = {"action": "regenerate_images", "_selected_action": [selected], "confirmed": "yes"}
    response = operator.post(LIST, fields, follow=True)
    assert response.status_code == 200
    assert "is no book" in text_of(response)
    assert not Command.objects.exists()


def test_a_key_too_long_to_keep_is_refused_in_words(operator):
    page = text_of(post(operator, "regenerate_images", [make_book()], confirmed="yes", key="k" * 300))
    assert "The idempotency key has" in page
    assert not Command.objects.exists()


def test_one_book_with_its_layer_off_does_not_keep_the_others_from_their_plan(operator):
    off, on = make_book(scenes=1), make_book(scenes=2)
    LayerConfig.objects.create(book=off, stage="image", enabled=False)
    page = text_of(post(operator, "regenerate_images", [off, on]))
    assert f"{off.title}: the command was not accepted" in page
    assert f"{on.title} Image 2" in page


def test_the_sentence_of_a_stop_counts_all_books_also_those_not_listed(operator, monkeypatch):
    monkeypatch.setattr("generation.admin.actions.SHOWN", 1)
    books = [make_book(scenes=1) for _ in range(3)]
    post(operator, "regenerate_images", books, confirmed="yes", key="a")
    page = text_of(post(operator, "stop_all", books))
    assert "3 queued assets leave the queue" in page
    assert "And 2 more" in page


def test_stop_all_says_what_it_takes_away_and_does_it(operator):
    book = make_book(scenes=2)
    post(operator, "regenerate_images", [book], confirmed="yes", key="a")
    page = text_of(post(operator, "stop_all", [book]))
    assert "2 queued assets leave the queue and 0 running generations are abandoned." in page
    assert {asset.state for asset in images_of(book)} == {State.PENDING}
    assert "2 queued assets left the queue" in text_of(post(operator, "stop_all", [book], confirmed="yes", key="b"))
    assert {asset.state for asset in images_of(book)} == {State.DIRTY}


def test_a_blocked_book_says_what_to_do(operator, hub):
    book = make_book(scenes=1)
    post(operator, "regenerate_images", [book], confirmed="yes", key="a")
    hub.worker_counts["image"] = 0
    run_tick(hub)
    assert "No image worker is running. Start one with manage.py rqworker gpu-image" in text_of(operator.get(LIST))


def test_queued_work_without_a_worker_is_told_before_its_task_is_blocked(operator, hub):
    make_book(scenes=1)
    book = make_book(scenes=2)
    run_tick(hub)  # workers are seen
    hub.worker_counts["image"] = 0
    run_tick(hub)
    post(operator, "regenerate_images", [book], confirmed="yes", key="a")
    run_tick(hub)
    assert Task.objects.get().status == "active"
    page = text_of(operator.get(LIST))
    assert page.count("no image worker is running") == 1
    assert "2 pictures queued, and no image worker is running. Start one with manage.py rqworker gpu-image." in page
    StageWorkers.objects.create(stage="cartoon", read_at=Now())  # of a version that is gone
    assert operator.get(LIST).status_code == 200
    StageWorkers.objects.update(read_at="2000-01-01T00:00:00Z")
    assert "no image worker is running" not in text_of(operator.get(LIST))


@pytest.mark.parametrize("action", ["regenerate_images", "regenerate_all", "stop_all"])
def test_without_the_permission_the_action_is_hidden_and_its_post_changes_no_row(viewer, action):
    book = make_book(scenes=1)
    assert f'value="{action}"' not in viewer.get(LIST).content.decode()
    post(viewer, action, [book], confirmed="yes", key="k")
    assert not Command.objects.exists()
    assert set(book.assets.values_list("state", flat=True)) == {State.NEW}


def test_the_list_takes_the_same_statements_for_few_and_many_books(operator):
    make_book(scenes=1)
    operator.get(LIST)
    with CaptureQueriesContext(connection) as few:
        operator.get(LIST)
    for _ in range(12):
        make_book(scenes=3)
    with CaptureQueriesContext(connection) as many:
        operator.get(LIST)
    assert len(many) == len(few)


@pytest.fixture
def picture(hub, actor) -> str:
    book = make_book(scenes=1)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    run_tick(hub)
    deliver_all()
    return reverse("artifact-file", args=[Artifact.objects.get().files.get().pk])


def test_a_picture_is_shown_to_those_who_may_see_it(operator, picture):
    response = operator.get(picture)
    assert (response.status_code, response["Content-Type"]) == (200, "image/webp")
    assert b"".join(response.streaming_content) == webp()
    assert picture in operator.get("/admin/generation/asset/?stage__exact=image").content.decode()


def test_a_picture_is_private(client, picture):
    assert client.get(picture).status_code == 403


def test_a_picture_is_not_shown_without_the_permission(viewer, picture):
    assert viewer.get(picture).status_code == 403


def test_a_picture_that_is_not_there_is_404(operator):
    assert operator.get(reverse("artifact-file", args=[999])).status_code == 404


def test_every_model_of_ours_is_in_the_admin():
    ours = {model for app in ("generation", "dispatch") for model in apps.get_app_config(app).get_models()}
    assert ours - set(admin.site._registry) == {StoreIdentity}  # the token of the storage is nobody's business


def test_every_list_of_the_admin_opens(admin_client, hub, actor, picture):
    for model in admin.site._registry:
        if model._meta.app_label in ("generation", "dispatch"):
            address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
            assert admin_client.get(address).status_code == 200
            row = model.objects.first()
            if row is not None:
                change = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[row.pk])
                assert admin_client.get(change).status_code == 200


def test_the_dashboard_of_the_queues_is_for_superusers_only(operator):
    assert operator.get("/admin/django_rq/dashboard/").status_code == 403
    assert operator.post("/admin/django_rq/dashboard/queues/0/empty/").status_code == 403


def test_the_front_door_leads_to_the_books(operator):
    assert operator.get("/", follow=True).redirect_chain[-1][0] == LIST
