"""What the demonstration tells of work that was asked for."""

import pytest
from django.db import DatabaseError

from dispatch.demo import progress
from generation.commands import regenerate
from generation.models import Asset
from tests.factories.artifacts import publish
from tests.factories.books import make_book

pytestmark = pytest.mark.django_db


def test_a_book_nobody_asked_anything_for_has_nothing_to_tell():
    make_book()
    assert progress.lines() == {}


def test_each_book_tells_what_is_ready_and_what_is_coming(actor):
    book, other = make_book(scenes=3, title="The Whale"), make_book(scenes=1, title="The Whale")
    regenerate.apply(regenerate.Request(book.pk, ("image", "video")), actor)
    regenerate.apply(regenerate.Request(other.pk, ("audio",)), actor)
    publish(Asset.objects.get(book=book, stage="image", position=1))
    assert progress.lines() == {
        book.pk: "The Whale: 1 of 3 pictures, 0 of 3 videos ready; 5 queued",
        other.pk: "The Whale: 0 of 1 narration ready; 1 queued",
    }


def test_a_database_that_is_away_ends_nothing(monkeypatch):
    def away(*_):
        raise DatabaseError

    monkeypatch.setattr("generation.selectors.progress", away)
    assert progress.lines() == {}
