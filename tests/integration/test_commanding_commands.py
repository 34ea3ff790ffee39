import json

import pytest
from django.core.management import CommandError, call_command

from generation.models import Command, Task
from tests.factories.books import make_book
from tests.flows.asking import states
from tests.snapshot import snapshot

pytestmark = pytest.mark.django_db(transaction=True)


def run(capsys, *arguments):
    call_command(*arguments)
    return capsys.readouterr().out


def test_regenerate_asks_and_tells_as_json(capsys):
    book = make_book(scenes=2, key="moby:dick/1")
    told = json.loads(run(capsys, "regenerate", "moby:dick/1", "--stage", "image", "--json"))
    assert told == {
        "book": book.pk,
        "dry_run": False,
        "stages": {"image": {"targets": 2, "skipped": {}}},
        "targets": 2,
        "tasks": [Task.objects.get().pk],
    }
    assert states(book) == ["pending", "pending"]
    assert Command.objects.get().actor_name.startswith("manage.py")


def test_a_dry_run_says_the_same_and_changes_no_row(capsys):
    book = make_book(scenes=2)
    before = snapshot()
    told = run(capsys, "regenerate", str(book.pk), "--dry-run")
    stages = "audio: 2 narrations queued; image: 2 pictures queued; video: 2 videos queued"
    assert told == f"Dry run. {book.title}: {stages}.\n"
    assert "0 queued leave the queue, 0 running are abandoned." in run(capsys, "cancel", book.key, "--dry-run")
    assert snapshot() == before


def test_a_scope_and_ids_narrow_it(capsys):
    book = make_book(scenes=3)
    scene = book.scenes.get(position=2)
    run(capsys, "regenerate", book.key, "--stage", "image", "--scope", "scene", "--id", str(scene.pk))
    assert states(book) == ["new", "pending", "new"]
    told = run(capsys, "regenerate", book.key, "--stage", "image", "--scope", "next_window", "--count", "2")
    assert "image: 1 picture queued, 1 already queued." in told


def test_cancel_stops_all_and_the_same_key_never_acts_twice(capsys):
    book = make_book(scenes=2)
    run(capsys, "regenerate", book.key, "--stage", "image")
    first = run(capsys, "cancel", book.key, "--json", "--key", "a")
    assert json.loads(first)["queued"] == 2
    assert json.loads(run(capsys, "cancel", book.key, "--json", "--key", "a")) == json.loads(first)
    assert Command.objects.count() == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["regenerate", "no such book"], "There is no book 'no such book'."),
        (["regenerate", "9" * 30], "There is no book"),
        (["cancel", "a\x00b"], "which cannot be printed"),
        (["regenerate", "b", "--stage", "smell"], "There is no stage 'smell'"),
        (["regenerate", "b", "--scope", "scene"], "needs one id"),
        (["regenerate", "b", "--scope", "scene", "--id", "5000"], "no scene with the id 5000"),
        (["regenerate", "b", "--scope", "next_window", "--count", "0"], "1 to 200 scenes"),
        (["cancel", "b", "--key", ""], "key is empty"),
    ],
)
def test_bad_input_is_refused_in_words_and_changes_no_row(arguments, message):
    make_book(scenes=1, key="b")
    before = snapshot()
    with pytest.raises(CommandError, match=message):
        call_command(*arguments)
    assert snapshot() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["regenerate", "b", "--count", "2"], "takes no count"),
        (["regenerate", "b", "--dry-run", "--key", "k"], "takes no --key"),
        (["regenerate", "b", "--stage", "\udcff"], "cannot be stored|no stage"),
        (["cancel", "b", "--stage", "a\x00"], "cannot be stored|no stage"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, message):
    make_book(scenes=1, key="b")
    with pytest.raises(CommandError, match=message):
        call_command(*arguments)
    assert not Command.objects.exists()
