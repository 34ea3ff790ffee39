import pytest

from dispatch.models import Dispatch
from dispatch.tick import run_tick
from generation.commands import regenerate
from generation.models import Asset, StageConfig
from tests.doubles.pictures import deliver
from tests.factories.books import make_book

pytestmark = pytest.mark.django_db(transaction=True)


def ask(book, actor):
    regenerate.apply(regenerate.Request(book.pk, ("image",)), actor)


def dispatched(book):
    return list(
        Dispatch.objects.filter(book=book).order_by("asset__position").values_list("asset__position", flat=True)
    )


def test_inside_a_book_priority_comes_first_and_then_reading_order(hub, actor):
    book = make_book(scenes=9)
    ask(book, actor)
    Asset.objects.filter(position=9).update(priority=1)
    run_tick(hub)
    assert dispatched(book) == [1, 2, 3, 9]


def test_the_quota_is_shared_between_books_whatever_their_reading_order(hub, actor):
    books = [make_book(scenes=6) for _ in range(4)]
    for book in books:
        ask(book, actor)
    run_tick(hub)
    assert [len(dispatched(book)) for book in books] == [1, 1, 1, 1]


@pytest.mark.long
def test_every_book_is_served_before_any_is_served_again(hub, actor):
    StageConfig.objects.create(stage="image", quota=2)
    books = [make_book(scenes=3) for _ in range(6)]
    for book in books:
        ask(book, actor)
    for _ in range(3):
        run_tick(hub)
        for dispatch in Dispatch.objects.filter(status="active"):
            deliver(dispatch)
    assert [len(dispatched(book)) for book in books] == [1] * 6


def test_deferred_and_paused_assets_do_not_take_the_places_of_others(hub, actor):
    book, other = make_book(scenes=20), make_book(scenes=2)
    ask(book, actor)
    ask(other, actor)
    Asset.objects.filter(book=book).update(deferred_until="2999-01-01T00:00:00Z")
    report = run_tick(hub)
    assert (dispatched(book), dispatched(other)) == ([], [1, 2])
    assert (report.deferred, report.errors) == (20, [])


def test_nothing_is_selected_when_the_quota_is_in_use(hub, actor):
    book = make_book(scenes=9)
    ask(book, actor)
    run_tick(hub)
    report = run_tick(hub)
    assert (report.processed, report.dispatched, report.total_active) == (0, 0, 9)


@pytest.mark.long
def test_a_lowered_quota_kills_nothing(hub, actor):
    book = make_book(scenes=9)
    ask(book, actor)
    run_tick(hub)
    StageConfig.objects.create(stage="image", quota=1)
    run_tick(hub)
    assert Dispatch.objects.filter(status="active").count() == 4
    for dispatch in Dispatch.objects.filter(status="active")[:3]:
        deliver(dispatch)
    assert run_tick(hub).dispatched == 0
    deliver(Dispatch.objects.get(status="active"))
    assert run_tick(hub).dispatched == 1
