"""Every Redis key of the capacity floor. One hash tag, so that one script call stays in one cluster slot."""

# Number: the highest fence of a tick that wrote.
FENCE = "{animastor}:fence"
# Sorted set: retries admitted for any stage, as in `retries`.
ALL_RETRIES = "{animastor}:retries"


def active(stage: str) -> str:
    """Sorted set: asset id, scored with the time its lease expires (s since the epoch)."""
    return f"{{animastor}}:{stage}:active"


def owners(stage: str) -> str:
    """Hash: asset id → dispatch_id, which is the lease's token; ":number" after it marks a test of that opening."""
    return f"{{animastor}}:{stage}:owners"


def circuit(stage: str) -> str:
    """Hash: opened, since, number, heard, resets; see lua/circuit.lua."""
    return f"{{animastor}}:{stage}:circuit"


def failures(stage: str) -> str:
    """Sorted set: dispatch_id that failed while the circuit is closed, scored with its end on PostgreSQL's clock."""
    return f"{{animastor}}:{stage}:failures"


def retries(stage: str) -> str:
    """Sorted set: "dispatch_id:failure type:worker" of a retry, scored with its admission; see lua/budgets.lua."""
    return f"{{animastor}}:{stage}:retries"


def of_stage(stage: str) -> list[str]:
    """Return the keys every script is called with, in its order."""
    return [FENCE, active(stage), owners(stage), circuit(stage), failures(stage), retries(stage), ALL_RETRIES]
