"""No network inside an open transaction: a slow peer would hold row locks, and a roll-back could not take it back."""

from django.db import connection


def forbid_open_transaction(what: str) -> None:
    """Raise RuntimeError inside `atomic()`. The wrapper that a test case opens around itself does not count."""
    blocks = getattr(connection, "atomic_blocks", [])
    if any(not block._from_testcase for block in blocks):
        raise RuntimeError(f"{what} inside an open transaction")
