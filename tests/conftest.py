import gc
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest
import redis
from django.conf import settings
from django.db import connection, transaction
from django.test import TransactionTestCase
from redis.connection import AbstractConnection

from dispatch.models import TickLease
from generation.commands.answers import Actor
from generation.models import StageConfig, SystemConfig
from tests.doubles.hub import FakeHub

# Machines are shared: how long one example takes says nothing. The gate looks at the same examples every time, so that
# it says something about the change; `make search` looks for new ones.
hypothesis.settings.register_profile("house", deadline=None, max_examples=50, derandomize=True)
hypothesis.settings.register_profile("search", deadline=None, max_examples=1000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))

# What migrations made and no test changes.
KEPT_TABLES = {"django_migrations", "django_content_type", "auth_permission"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first: one that begins last is what everybody waits for."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """What is loaded by now lives until the end; looking through it again and again is a tenth of a run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Every test begins with an empty database: also without the rows that migrations make."""
    with django_db_blocker.unblock():
        StageConfig.objects.all().delete()
        SystemConfig.objects.all().delete()


@pytest.fixture(scope="session", autouse=True)
def quick_emptying() -> Iterator[None]:
    """Empty the tables after a test that commits; Django's flush also makes all permissions anew, at 0.2 s a test."""

    def empty(self: TransactionTestCase) -> None:
        tables = [name for name in connection.introspection.table_names() if name not in KEPT_TABLES]
        with transaction.atomic(), connection.cursor() as cursor:
            # Foreign keys are not checked row by row: everything goes.
            statements = [f'DELETE FROM "{name}"' for name in tables]
            cursor.execute("; ".join(["SET LOCAL session_replication_role = replica", *statements]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty)
        yield


@pytest.fixture(autouse=True)
def empty_redis() -> Iterator[redis.Redis]:
    """This process's own Valkey database, emptied before the test."""
    with redis.Redis.from_url(settings.REDIS_URL) as connection:
        connection.flushdb()
        yield connection


@pytest.fixture(autouse=True)
def empty_store() -> None:
    """This process's own artifact folder, emptied before the test: it belongs to the emptied database."""
    shutil.rmtree(settings.ARTIFACT_ROOT, ignore_errors=True)


@pytest.fixture(autouse=True)
def quick_passwords(settings) -> None:
    """The real hasher is slow on purpose; no test is about it."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def hub() -> FakeHub:
    return FakeHub()


@pytest.fixture
def actor() -> Actor:
    return Actor("operator")


@pytest.fixture
def lost_tick() -> object:
    """Make a crashed tick's lease expire, as 30 s would."""

    def expire() -> None:
        TickLease.objects.update(expires_at="2000-01-01T00:00:00Z")

    return expire


@pytest.fixture
def round_trips(monkeypatch) -> Callable[[Callable[[], object]], int]:
    """Return a function that runs an action and counts its round trips to Redis; a pipeline is one.

    What a new connection says first does not count: how many a pool opens depends on its threads.
    """
    sent: list[int] = []
    greeting = threading.local()
    send, greet = AbstractConnection.send_packed_command, AbstractConnection.connect_check_health

    def counted(connection: AbstractConnection, *args: object, **options: object) -> object:
        if not getattr(greeting, "now", False):
            sent.append(1)
        return send(connection, *args, **options)

    def greeted(connection: AbstractConnection, *args: object, **options: object) -> object:
        greeting.now = True
        try:
            return greet(connection, *args, **options)
        finally:
            greeting.now = False

    monkeypatch.setattr(AbstractConnection, "send_packed_command", counted)
    monkeypatch.setattr(AbstractConnection, "connect_check_health", greeted)

    def count(action: Callable[[], object]) -> int:
        sent.clear()
        action()
        return len(sent)

    return count
