"""Every Redis key of the capacity floor. One hash tag, so that one script call stays in one cluster slot."""

FENCE = "{animastor}:fence"


def active(stage: str) -> str:
    """Sorted set: asset id, scored with the time its lease expires (s since the epoch)."""
    return f"{{animastor}}:{stage}:active"


def owners(stage: str) -> str:
    """Hash: asset id → dispatch_id. The dispatch_id is the lease's token."""
    return f"{{animastor}}:{stage}:owners"
