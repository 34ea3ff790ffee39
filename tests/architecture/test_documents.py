"""Documents that tell what code says are compared with it."""

import re
from pathlib import Path

import pytest

from dispatch.failures import CAUSES
from dispatch.models import Job
from dispatch.models.jobs import EDGES as JOB_EDGES
from dispatch.outcomes import OUTCOMES
from dispatch.reconcile import CHECKS
from generation.lifecycle import EDGES, State
from generation.models import Command

PROJECT = Path(__file__).resolve().parents[2]


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def drawn(edges, first) -> str:
    """Return the diagram of a table of steps, as a document holds it."""
    steps = [
        f"    {source} --> {target}"
        for source, targets in edges.items()
        for target in type(source)
        if target in targets
    ]
    ends = [f"    {source} --> [*]" for source, targets in edges.items() if not targets]
    return "\n".join(["```mermaid", "stateDiagram-v2", f"    [*] --> {first}", *steps, *ends, "```"])


def test_the_diagrams_are_drawn_from_the_tables_in_code():
    text = (PROJECT / "docs" / "lifecycle.md").read_text()
    for edges, first in ((EDGES, State.NEW), (JOB_EDGES, Job.Status.RESERVED)):
        assert drawn(edges, first) in text, drawn(edges, first)


def test_a_step_that_the_table_of_jobs_does_not_have_is_refused():
    with pytest.raises(ValueError, match="does not go from done to sent"):
        Job.objects.none().move(Job.Status.DONE, Job.Status.SENT)


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


def test_every_kind_of_finding_is_explained_with_its_fix():
    text = (PROJECT / "docs" / "operations.md").read_text()
    table = rows(text.split("## What is put right by itself")[1].split("## What is forgotten")[0])[2:]
    assert table == [[check.kind, check.words, check.fix_words] for check in CHECKS]
