"""A changed file over an earlier import: what did not change keeps its row and its files."""

from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from generation.commands import import_book, regenerate
from generation.commands.answers import Actor
from generation.exceptions import IdempotencyConflict, ImportRefused, NotFound
from generation.importing.files import read_file
from generation.lifecycle import State
from generation.models import Artifact, Asset, Book, Chapter, Command, ImageUnit, JournalEntry, Scene, Target
from tests.factories.artifacts import publish
from tests.factories.bundles import bundle, chapter, scene
from tests.snapshot import snapshot

pytestmark = pytest.mark.django_db

TEXTS = [f"On day {number} the ship sailed on through the long grey morning." for number in range(6)]
ADA = Actor("ada")


def read(*chapters):
    return read_file(bundle(*chapters), "x.zip")


def asked(*chapters, update=True):
    return import_book.Request(read(*chapters), "whale", update)


def two_chapters(*texts):
    half = len(texts) // 2
    scenes = [scene(f"s{number}", text) for number, text in enumerate(texts)]
    return chapter("c1", *scenes[:half]), chapter("c2", *scenes[half:])


@pytest.fixture
def book():
    pk = import_book.apply(asked(*two_chapters(*TEXTS), update=False), ADA)["book"]
    return Book.objects.get(pk=pk)


def scenes_of(book):
    return list(Scene.objects.filter(book=book).order_by("position"))


def test_the_same_file_again_keeps_every_scene_and_changes_no_version(book):
    before = [(scene.pk, scene.content_version, scene.recheck) for scene in scenes_of(book)]
    answer = import_book.apply(asked(*two_chapters(*TEXTS)), ADA)
    assert (answer["kept"], answer["changed"], answer["new"], answer["deleted"]) == (6, 0, 0, 0)
    assert [(scene.pk, scene.content_version, scene.recheck) for scene in scenes_of(book)] == before


def test_each_import_is_a_build_of_its_own(book):
    import_book.apply(asked(*two_chapters(*TEXTS)), ADA)
    assert Book.objects.get().build_id != book.build_id


def test_an_unchanged_scene_keeps_its_files_and_a_changed_one_is_compared(book):
    kept, changed = scenes_of(book)[:2]
    for one in (kept, changed):
        publish(Asset.objects.get(scene=one, stage="image"))
    texts = [TEXTS[0], "Something else.", *TEXTS[2:]]
    answer = import_book.apply(asked(*two_chapters(*texts)), ADA)
    assert (answer["kept"], answer["changed"]) == (5, 1)
    kept.refresh_from_db()
    changed.refresh_from_db()
    assert (kept.content_version, kept.recheck) == (1, False)
    assert (changed.text, changed.content_version, changed.recheck) == ("Something else.", 2, True)
    assert Artifact.objects.count() == 2
    assert set(Asset.objects.filter(scene=kept).values_list("state", flat=True)) == {State.READY, State.NEW}


def test_a_scene_without_a_name_is_known_by_its_text_wherever_it_went(book):
    moved = [{"id": f"other{number}", "text": text} for number, text in enumerate(reversed(TEXTS))]
    before = {scene.text: scene.pk for scene in scenes_of(book)}
    answer = import_book.apply(asked(chapter("new", *moved)), ADA)
    assert (answer["kept"], answer["deleted"]) == (6, 0)
    after = scenes_of(book)
    assert {scene.text: scene.pk for scene in after} == before
    assert [scene.text for scene in after] == list(reversed(TEXTS))
    assert [asset.position for asset in Asset.objects.filter(stage="audio").order_by("position")] == [1, 2, 3, 4, 5, 6]
    assert all(asset.position == asset.scene.position for asset in Asset.objects.select_related("scene"))
    assert [(one.number, one.key) for one in Chapter.objects.all()] == [(1, "new")]


def test_new_scenes_come_in_between_and_missing_ones_go(book):
    gone = scenes_of(book)[5]
    first, _ = two_chapters(*TEXTS)
    second = chapter("c2", scene("new", "Quite another thing happened."), scene("s3", TEXTS[3]), scene("s4", TEXTS[4]))
    answer = import_book.apply(asked(first, second), ADA)
    assert (answer["kept"], answer["new"], answer["deleted"]) == (5, 1, 1)
    assert [one.text for one in scenes_of(book)] == [
        *TEXTS[:3],
        "Quite another thing happened.",
        TEXTS[3],
        TEXTS[4],
    ]
    assert not Asset.objects.filter(scene=gone.pk).exists()
    assert Asset.objects.count() == 18


@pytest.mark.long
def test_a_text_that_was_cut_into_scenes_is_cut_at_the_same_places_again():
    sentence = "The {0} wind rose in the evening and the captain looked long at the dark water of the bay. "
    paragraphs = ["".join(sentence.format(f"{number}th") for _ in range(3)).strip() for number in range(60)]

    def of(paragraphs):
        return read_file("\n\n".join(paragraphs).encode(), "whale.txt")

    import_book.apply(import_book.Request(of(paragraphs), "text"), ADA)
    total = Scene.objects.count()
    paragraphs[30] = "Then a boat came out of the dark."
    answer = import_book.apply(import_book.Request(of(paragraphs), "text", update=True), ADA)
    assert total > 10
    assert answer["kept"] >= total - 2
    assert answer["changed"] + answer["new"] in (1, 2)


def test_prompts_of_pictures_are_part_of_the_scene():
    def with_prompt(prompt):
        return asked(chapter("c1", scene("s1", images=[{"id": "i1", "prompt": prompt}])))

    import_book.apply(replace(with_prompt("a ship"), update=False), ADA)
    assert [(unit.number, unit.key, unit.prompt) for unit in ImageUnit.objects.all()] == [(1, "i1", "a ship")]
    assert import_book.apply(with_prompt("a ship"), ADA)["changed"] == 0
    assert import_book.apply(with_prompt("a whale"), ADA)["changed"] == 1
    assert [unit.prompt for unit in ImageUnit.objects.all()] == ["a whale"]
    assert Scene.objects.get().content_version == 2


def test_a_picture_that_stays_keeps_its_row_and_new_names_change_nothing_that_is_rendered():
    def with_images(*images):
        listed = [{"id": key, "prompt": prompt} for key, prompt in images]
        return asked(chapter("c1", scene("s1", images=listed)))

    first = with_images(("a", "a ship"), ("b", "a whale"), ("c", "the sea"))
    import_book.apply(replace(first, update=False), ADA)
    before = dict(ImageUnit.objects.values_list("key", "pk"))
    told = import_book.apply(with_images(("c", "the sea"), ("a", "a ship"), ("d", "the end")), ADA)
    after = dict(ImageUnit.objects.order_by("number").values_list("key", "pk"))
    assert (list(after), told["changed"]) == (["c", "a", "d"], 1)
    assert (after["a"], after["c"]) == (before["a"], before["c"])
    told = import_book.apply(with_images(("x", "the sea"), ("y", "a ship"), ("z", "the end")), ADA)
    assert (told["kept"], list(ImageUnit.objects.values_list("key", flat=True))) == (1, ["x", "y", "z"])


def test_an_update_of_a_book_that_is_not_there_is_refused():
    for give in (import_book.plan, lambda request: import_book.apply(request, ADA)):
        with pytest.raises(NotFound, match="no book with the key 'whale' to update"):
            give(asked(*two_chapters(*TEXTS)))
    assert not Book.objects.exists()


def test_voices_an_operator_set_and_work_that_was_asked_for_stay(book):
    one = scenes_of(book)[0]
    Scene.objects.filter(pk=one.pk).update(voice="heart", speed_percent=120)
    regenerate.apply(regenerate.Request(book.pk, ("image",)), ADA)
    import_book.apply(asked(*two_chapters("Changed a little.", *TEXTS[1:])), ADA)
    one.refresh_from_db()
    assert (one.voice, one.speed_percent, one.text) == ("heart", 120, "Changed a little.")
    assert Target.objects.filter(status=Target.Status.OPEN).count() == 6


def test_without_update_a_key_that_is_taken_is_refused(book):
    before = snapshot()
    with pytest.raises(ImportRefused, match="already a book with the key"):
        import_book.apply(asked(*two_chapters(*TEXTS), update=False), ADA)
    assert snapshot() == before


def test_the_plan_says_the_same_and_changes_nothing(book):
    request = asked(*two_chapters("Other words.", *TEXTS[1:]))
    before = snapshot()
    planned = import_book.plan(request).answer()
    assert snapshot() == before
    assert import_book.apply(request, ADA) == {**planned, "book": book.pk}


def test_the_same_key_of_a_request_imports_once_also_after_the_first_answer():
    first = import_book.apply(asked(*two_chapters(*TEXTS), update=False), ADA, "k")
    assert import_book.apply(asked(*two_chapters(*TEXTS), update=False), ADA, "k") == first
    assert (Book.objects.count(), Command.objects.count()) == (1, 1)
    with pytest.raises(IdempotencyConflict):
        import_book.apply(asked(*two_chapters(*reversed(TEXTS)), update=False), ADA, "k")


def test_what_changed_and_went_is_in_the_journal_once_per_asset(book):
    import_book.apply(asked(chapter("c1", *[scene(f"s{n}", TEXTS[n]) for n in range(2)], scene("s2", "New."))), ADA)
    command = Command.objects.latest("pk")
    entries = JournalEntry.objects.filter(command_pk=command.pk)
    assert (entries.count(), entries.values("asset_pk").distinct().count()) == (12, 12)
    assert JournalEntry.objects.filter(event="imported").count() == 2


def test_the_command_line_updates_and_tells_what_it_would_do(book, tmp_path, capsys):
    file = tmp_path / "whale.zip"
    file.write_bytes(bundle(*two_chapters("Other words.", *TEXTS[1:])))
    with pytest.raises(CommandError, match="--update the book"):
        call_command("import_book", str(file))
    call_command("import_book", str(file), "--update", "--dry-run")
    assert "2 chapters, 6 scenes (5 kept, 1 changed, 0 new), 0 deleted" in capsys.readouterr().out
    assert Scene.objects.filter(content_version=2).count() == 0
    call_command("import_book", str(file), "--update")
    assert Scene.objects.filter(content_version=2).count() == 1
