"""What select asks the database where 300 000 assets wait, and that explain knows the same order."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from dispatch.capacity.standing import Standing
from dispatch.tick import run_tick
from dispatch.tick.select import in_order
from generation.bulk import insert_from
from generation.models import Asset, Book, Command, Scene, Target, Task
from generation.stages import StageName
from tests.factories.books import make_book

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

BOOKS, SCENES = 30, 10_000
OF_EACH = 8


@pytest.fixture
def three_hundred_thousand() -> list[Book]:
    """Thirty books with 10 000 pictures each, all queued under active tasks."""
    books = [make_book(scenes=1) for _ in range(BOOKS)]
    command = Command.objects.create(kind="regenerate", params={}, actor_name="operator", digest="", answer={})
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # 900 000 foreign keys are not what is looked at
        cursor.execute(
            "INSERT INTO generation_scene (book_id, chapter_id, number, position, key, title, text, has_words, voice,"
            " speed_percent, content_version, audio_config_version, recheck)"
            " SELECT book_id, chapter_id, n, n, '', '', text, true, '', speed_percent, 1, 1, false"
            " FROM generation_scene, generate_series(2, %s) n",
            [SCENES],
        )
        Asset.objects.all().delete()
        own = {"book": F("book_id"), "scene": F("pk"), "position": F("position"), "retries_left": 10}
        insert_from(Asset, Scene.objects.order_by(), stage="image", state="pending", intent=1, **own)
        Asset.objects.update(pending_since="2026-01-01T00:00:00Z")
        for book in books:
            task = Task.objects.create(command=command, book=book, stage="image")
            insert_from(Target, book.assets.order_by(), task=task.pk, asset=F("pk"), intent=1)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE generation_asset, generation_target, generation_scene")
    return books


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


def test_select_reads_only_the_heads_of_the_queues_where_300_000_wait(three_hundred_thousand, hub, capsys):
    with CaptureQueriesContext(connection) as captured:
        order = in_order(StageName.IMAGE, Standing(), OF_EACH)
    assert len(order) == BOOKS * OF_EACH
    assert len(captured) == 1
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {captured[0]['sql']}")
        (explained,) = cursor.fetchone()[0]
    read = [node for node in nodes(explained["Plan"]) if node.get("Relation Name") == "generation_asset"]
    assert {node.get("Index Name") for node in read} == {"asset_select"}
    assert all(node["Actual Rows"] * node["Actual Loops"] <= BOOKS * OF_EACH for node in read)
    assert "Sort" not in {node["Node Type"] for node in nodes(explained["Plan"])}
    with capsys.disabled():
        print(f"\nselect where {BOOKS * SCENES} wait: {explained['Execution Time']:.1f} ms")  # noqa: T201
    assert run_tick(hub).dispatched == 4
    deferred = Asset.objects.filter(position__lte=2000)
    deferred.update(deferred_until="2999-01-01T00:00:00Z")
    heads = Asset.objects.filter(book__in=three_hundred_thousand, position=2001)
    assert sorted(in_order(StageName.IMAGE, Standing(), 1)) == sorted(heads.values_list("pk", flat=True))
