"""Documents that tell what code says are compared with it."""

import re
from pathlib import Path

from dispatch.failures import CAUSES
from dispatch.outcomes import OUTCOMES
from generation.lifecycle import EDGES
from generation.models import Command

PROJECT = Path(__file__).resolve().parents[2]


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_the_table_of_states_is_the_one_in_code():
    text = (PROJECT / "docs" / "lifecycle.md").read_text()
    table = rows(text.split("## The way")[0])[2:]
    assert {row[0]: set(row[1].split(", ")) for row in table} == {
        source.value: {target.value for target in targets} for source, targets in EDGES.items()
    }


def test_the_tables_of_outcomes_and_causes_are_the_ones_in_code():
    text = (PROJECT / "docs" / "lifecycle.md").read_text()
    outcomes = rows(text.split("## What a hand-over may come to")[1].split("## Why a render fails")[0])[2:]
    assert outcomes == [[one.reason, one.bucket.value, one.words] for one in OUTCOMES.values()]
    causes = rows(text.split("## Why a render fails")[1])[2:]
    assert causes == [[one.reason, one.type.value, one.words] for one in CAUSES.values()]


def test_every_kind_of_command_is_explained():
    explained = (PROJECT / "docs" / "commands.md").read_text()
    named = {name for row in rows(explained)[2:] for name in row[0].split(", ")}
    assert named == set(Command.Kind.values)


def test_every_scenario_of_the_table_names_a_test_that_exists():
    table = rows((PROJECT / "tests" / "README.md").read_text().split("## Scenarios")[1])[2:]
    numbers = [int(row[0]) for row in table]
    assert numbers == sorted(set(numbers))
    for _, _, named in table:
        path, name = re.fullmatch(r"(tests/[\w/]+\.py)::(test_\w+)", named).groups()
        assert f"def {name}(" in (PROJECT / path).read_text(), named


def test_every_variable_the_settings_read_is_explained():
    read = re.findall(r'env_\w+\(\s*"([A-Z_]+)"', (PROJECT / "animastor_site" / "settings.py").read_text())
    explained = (PROJECT / "docs" / "operations.md").read_text()
    internal = {"ANIMASTOR_REDIS_DB", "ANIMASTOR_HUB"}
    assert [name for name in set(read) - internal if f"`{name}`" not in explained] == []
