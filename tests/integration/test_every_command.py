"""What holds for every command alike. A new kind of command fails here until it has its row."""

from functools import partial

import pytest

from generation.exceptions import GenerationError, IdempotencyConflict, PermissionRefused
from generation.models import Book, Command
from tests.factories.accounts import operator_with
from tests.factories.commands import CASES, CONFIGURE, EDIT, OPERATE, STOP, Given
from tests.snapshot import snapshot

pytestmark = pytest.mark.django_db


@pytest.fixture
def given(actor) -> Given:
    return Given(actor)


def test_every_kind_of_command_is_looked_at_here():
    assert set(CASES) == set(Command.Kind)


every_command = pytest.mark.parametrize("kind", CASES)


@every_command
def test_without_the_permission_it_is_refused_and_changes_no_row(kind, given):
    stranger = operator_with(*({OPERATE, STOP, EDIT, CONFIGURE} - set(CASES[kind].permissions)))
    request = CASES[kind].good(given)
    before = snapshot()
    with pytest.raises(PermissionRefused):
        CASES[kind].apply(request, stranger, "key")
    assert snapshot() == before


@every_command
def test_an_account_that_was_switched_off_is_refused(kind, given):
    gone = operator_with(*CASES[kind].permissions, active=False)
    before = snapshot()
    with pytest.raises(PermissionRefused):
        CASES[kind].apply(CASES[kind].good(given), gone)
    assert snapshot() == before


@every_command
def test_bad_input_is_refused_in_words_and_changes_no_row(kind, given):
    operator = operator_with(*CASES[kind].permissions, OPERATE, STOP)
    before = snapshot()
    for request in CASES[kind].bad(given):
        for action in (partial(CASES[kind].apply, request, operator), partial(CASES[kind].plan, request)):
            with pytest.raises(GenerationError) as refused:
                action()
            assert str(refused.value)
            assert refused.value.code
    assert snapshot() == before


@every_command
def test_a_bad_key_is_refused_and_changes_no_row(kind, given):
    operator = operator_with(*CASES[kind].permissions)
    request = CASES[kind].good(given)
    before = snapshot()
    for key in ("", "x" * 201, "a\x00b", "\ud800"):
        with pytest.raises(GenerationError):
            CASES[kind].apply(request, operator, key)
    assert snapshot() == before


@every_command
def test_the_plan_writes_nothing_and_tells_what_the_command_then_answers(kind, given):
    operator = operator_with(*CASES[kind].permissions)
    request = CASES[kind].good(given)
    before = snapshot()
    planned = CASES[kind].plan(request).answer()
    assert snapshot() == before
    answer = CASES[kind].apply(request, operator)
    assert {name: answer[name] for name in planned} == planned


@every_command
def test_it_is_recorded_with_its_actor_and_acts_once_per_key(kind, given):
    operator = operator_with(*CASES[kind].permissions)
    request = CASES[kind].good(given)
    answer = CASES[kind].apply(request, operator, "once")
    command = Command.objects.get(key="once")
    assert (command.kind, command.actor_name, command.answer) == (kind, operator.name, answer)
    after = snapshot()
    assert CASES[kind].apply(request, operator, "once") == answer
    assert snapshot() == after
    other = CASES[kind].other(given)
    before = snapshot()
    with pytest.raises(IdempotencyConflict):
        CASES[kind].apply(other, operator, "once")
    assert snapshot() == before


@every_command
def test_it_raises_the_revision_that_pages_poll(kind, given):
    operator = operator_with(*CASES[kind].permissions)
    before = Book.objects.get().revision
    CASES[kind].apply(CASES[kind].good(given), operator)
    assert Book.objects.get().revision > before
