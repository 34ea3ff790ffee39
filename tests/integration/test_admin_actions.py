"""Every command that the admin offers: plan first, then the deed; refused without the permission."""

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from dispatch.tick import run_tick
from generation.commands import edit, regenerate
from generation.exceptions import Conflict
from generation.models import Artifact, Asset, Book, Chapter, Command, Scene, StageConfig, SystemConfig, Task
from tests.doubles.pictures import deliver_all
from tests.factories.books import make_book
from tests.sampling import sampled
from tests.snapshot import snapshot

pytestmark = pytest.mark.django_db(transaction=True)

# model → {action: fields of its form}
ACTIONS = {
    Book: {
        "regenerate_audio": {},
        "regenerate_images": {},
        "regenerate_video": {},
        "regenerate_all": {},
        "stop_all": {},
        "regenerate_next": {"count": "2"},
        "retry": {"which": "both"},
        "pause": {"why": "lunch"},
        "resume": {},
        "fill_with_placeholders": {},
        "switch_layer": {"stage": "audio", "enabled": "off"},
        "set_job_timeout": {"stage": "video", "minutes": "90"},
        "auto_next_on": {},
        "auto_next_off": {},
        "delete_books": {},
    },
    Chapter: {"delete_chapters": {}},
    Scene: {
        "regenerate": {"stages": ["image"]},
        "move_to_front": {},
        "fill_with_placeholders": {},
        "set_voices": {"voice": "heart", "speed_percent": "110"},
        "delete_scenes": {},
    },
    Task: {"cancel_tasks": {}},
    Artifact: {"restore": {}},
    StageConfig: {"set_quota": {"quota": "6"}, "reset_circuit": {}, "pause": {}, "resume": {}},
    SystemConfig: {"pause": {}, "resume": {}},
}
# They only read: test_exporting looks at it.
READING = {"export"}
CASES = [(model, action) for model, actions in ACTIONS.items() for action in actions]
every_action = pytest.mark.parametrize(("model", "action"), sampled(CASES, keep=6))


@pytest.fixture
def record(hub, actor):
    """One row or more of every model."""
    book = make_book(scenes=2)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)
    run_tick(hub)
    deliver_all()
    run_tick(hub)
    StageConfig.objects.create(stage="image", quota=4)
    SystemConfig.objects.create()
    return book


def page_of(model):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def post(client, model, action, **fields):
    selected = [str(pk) for pk in model.objects.values_list("pk", flat=True)]
    return client.post(page_of(model), {"action": action, "_selected_action": selected, **fields}, follow=True)


def text_of(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_every_action_of_the_admin_is_looked_at_here(admin_client, record):
    for model, actions in ACTIONS.items():
        offered = set(re.findall(r'<option value="(\w+)"', admin_client.get(page_of(model)).content.decode()))
        assert offered - READING == set(actions)


def test_each_shows_its_plan_and_changes_no_row(admin_client, record):
    before = snapshot()
    for model, action in CASES:
        response = post(admin_client, model, action)
        assert response.templates[0].name == "admin/command_confirmation.html", action
        assert "not accepted" not in text_of(response), action
    assert snapshot() == before


@every_action
def test_confirmed_it_is_given_in_the_name_of_who_asked(model, action, admin_client, record):
    Command.objects.all().delete() if model is not Task else None
    page = text_of(post(admin_client, model, action, confirmed="yes", key="k", **ACTIONS[model][action]))
    assert "not accepted" not in page
    command = Command.objects.latest("pk")
    assert command.actor_name == "admin"
    assert command.key.startswith("k:")


@pytest.mark.long
def test_without_the_permission_each_is_hidden_and_its_post_changes_no_row(client, record):
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(user)
    before = snapshot()
    for model, action in CASES:
        assert f'value="{action}"' not in client.get(page_of(model)).content.decode()
        post(client, model, action, confirmed="yes", key="k", **ACTIONS[model][action])
    assert snapshot() == before


BAD_FIELDS = [
    (Book, "regenerate_next", {"count": "0"}),
    (Book, "retry", {"which": "all"}),
    (Book, "pause", {"why": "x" * 201}),
    (Book, "switch_layer", {"stage": "smell", "enabled": "off"}),
    (Scene, "set_voices", {"voice": "", "speed_percent": "900"}),
    (Scene, "regenerate", {"stages": ["smell"]}),
]


def test_bad_input_is_shown_beside_its_field_and_changes_no_row(admin_client, record):
    before = snapshot()
    for model, action, fields in BAD_FIELDS:
        response = post(admin_client, model, action, confirmed="yes", key="k", **fields)
        assert (response.status_code, "errorlist" in response.content.decode()) == (200, True), action
    assert snapshot() == before


@pytest.mark.long
def test_a_selection_that_names_no_row_is_no_server_error(admin_client, record):
    before = snapshot()
    for model, action in CASES:
        if model is SystemConfig:
            continue  # one row, whatever is selected
        for selected in ("abc", "9" * 40, "-1", "\x00", "٣"):
            fields = {"action": action, "_selected_action": [selected], "confirmed": "yes", **ACTIONS[model][action]}
            assert admin_client.post(page_of(model), fields, follow=True).status_code == 200
    assert snapshot() == before


def edit_page(scene):
    return reverse("admin:generation_scene_change", args=[scene.pk])


def test_the_text_of_a_scene_is_edited_by_the_command(admin_client, record, hub):
    scene = record.scenes.first()
    page = text_of(admin_client.post(edit_page(scene), {"text": "The ship is lost."}, follow=True))
    assert "1 scene changed, 1 ready become out of date. Nothing was started." in page
    scene.refresh_from_db()
    assert (scene.text, scene.content_version) == ("The ship is lost.", 2)
    assert Command.objects.latest("pk").kind == "edit_text"
    run_tick(hub)
    assert Asset.objects.get(scene=scene, stage="image").state == "dirty"


@pytest.mark.long
@pytest.mark.parametrize("text", ["", "   ", "x" * 200_001])
def test_a_text_that_cannot_be_one_is_refused_beside_the_field(text, admin_client, record):
    before = snapshot()
    response = admin_client.post(edit_page(record.scenes.first()), {"text": text})
    assert (response.status_code, "errorlist" in response.content.decode()) == (200, True)
    assert snapshot() == before


@pytest.mark.long
def test_one_command_per_book_carries_all_selected_scenes(admin_client, record):
    other = make_book(scenes=3)
    post(admin_client, Scene, "regenerate", confirmed="yes", key="k", stages=["image"], rebuild_all="on")
    commands = Command.objects.filter(actor_name="admin")
    assert {command.book: command.answer["targets"] for command in commands} == {record: 2, other: 3}


@pytest.mark.long
def test_the_list_of_books_says_what_is_paused_by_whom_and_why(admin_client, record):
    post(admin_client, Book, "pause", confirmed="yes", key="a", why="lunch")
    post(admin_client, StageConfig, "pause", confirmed="yes", key="b")
    page = text_of(admin_client.get(page_of(Book)))
    assert "Audio, image, video paused by admin: lunch." in page
    assert "Image paused by admin." in page


def test_a_stand_in_is_shown_until_there_is_a_result(admin_client):
    book = make_book(scenes=1)
    post(admin_client, Book, "fill_with_placeholders", confirmed="yes", key="a")
    asset = book.assets.get(stage="image")
    address = reverse("stand-in-file", args=[asset.pk])
    assert address in admin_client.get("/admin/generation/asset/?stage__exact=image").content.decode()
    response = admin_client.get(address)
    assert (response.status_code, response["Content-Type"]) == (200, "image/webp")
    assert admin_client.get(reverse("stand-in-file", args=[book.assets.get(stage="video").pk])).status_code == 404
    admin_client.logout()
    assert admin_client.get(address).status_code == 403


@pytest.mark.long
def test_what_was_chosen_on_the_page_is_shown_before_it_is_done(admin_client, record):
    page = post(admin_client, Book, "switch_layer")
    shown = re.search(r'name="shown" value="(\w+)"', page.content.decode()).group(1)
    fields = {"confirmed": "yes", "key": "k", "stage": "image", "enabled": "off"}
    before = snapshot()
    again = post(admin_client, Book, "switch_layer", shown=shown, **fields)
    assert "This is what will happen now. Confirm once more." in text_of(again)
    assert snapshot() == before
    shown = re.search(r'name="shown" value="(\w+)"', again.content.decode()).group(1)
    assert "Switch a layer." in text_of(post(admin_client, Book, "switch_layer", shown=shown, **fields))
    assert Command.objects.latest("pk").params == {"stage": "image", "enabled": False}


def test_rows_that_do_not_exist_any_more_are_no_silent_nothing(admin_client, record):
    fields = {"action": "pause", "_selected_action": ["999999"], "confirmed": "yes"}
    for model in (Book, SystemConfig):
        page = admin_client.post(page_of(model), fields, follow=True)
        assert "Nothing was selected that still exists." in text_of(page)
    assert SystemConfig.objects.get().paused_at is None


def test_a_refused_edit_is_not_called_a_success(admin_client, record, monkeypatch):
    def refuse(*_):
        raise Conflict

    monkeypatch.setattr(edit, "apply_text", refuse)
    page = text_of(admin_client.post(edit_page(record.scenes.first()), {"text": "Another."}, follow=True))
    assert "Nothing was changed" in page
    assert "changed successfully" not in page


@pytest.mark.parametrize(
    "address",
    [
        "/admin/generation/asset/?stage__exact=%00",
        "/admin/generation/task/?status__exact=%00",
        "/admin/generation/book/?q=%00",
        "/admin/generation/stageconfig/%00/change/",
    ],
)
def test_an_address_with_a_null_character_is_a_bad_request(address, admin_client):
    assert admin_client.get(address).status_code == 400
