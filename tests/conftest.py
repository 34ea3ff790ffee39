import shutil
from collections.abc import Callable, Iterator

import pytest
import redis
from django.conf import settings
from redis.connection import AbstractConnection

from dispatch.models import TickLease
from generation.commands.answers import Actor
from tests.doubles.hub import FakeHub


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
    """Return a function that runs an action and counts its round trips to Redis; a pipeline is one."""
    sent: list[int] = []
    send = AbstractConnection.send_packed_command

    def counted(connection: AbstractConnection, *args: object, **options: object) -> object:
        sent.append(1)
        return send(connection, *args, **options)

    monkeypatch.setattr(AbstractConnection, "send_packed_command", counted)

    def count(action: Callable[[], object]) -> int:
        sent.clear()
        action()
        return len(sent)

    return count
