"""Pytest plugin: real PostgreSQL and Valkey for the run, on data of their own, before Django reads its settings."""

import os
from pathlib import Path

import pytest

from animastor_site.embedded import servers
from animastor_site.embedded.layout import layout_for

STATE = Path(__file__).resolve().parent.parent / "var" / "test"
holds: list[servers.Use] = []


def database_number() -> int:
    """Valkey database of this test process: 1 for a lone run, 2 and up for the workers of pytest-xdist."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw-1")
    return int(worker.removeprefix("gw")) + 2


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        os.environ.pop(name, None)
    os.environ["ANIMASTOR_STATE_DIR"] = str(STATE)
    os.environ["ANIMASTOR_REDIS_DB"] = str(database_number())
    os.environ["ARTIFACT_ROOT"] = str(STATE / "artifacts" / os.environ["ANIMASTOR_REDIS_DB"])
    holds.append(servers.use(layout_for(STATE / "servers"), durable=False))


def pytest_unconfigure() -> None:
    for hold in holds:
        hold.close()
