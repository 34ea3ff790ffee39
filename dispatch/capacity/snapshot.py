"""The read side of the capacity floor: what may be looked at without being the tick."""

from . import keys
from .admission import Verdict
from .limits import limits_argument
from .scripts import CapacityUnavailable, call, server_time_s
from .standing import Circuit, Standing, standing_from

__all__ = ["CapacityUnavailable", "Circuit", "Standing", "Verdict", "ping", "read_stage"]


def ping() -> None:
    """Raise CapacityUnavailable when Redis does not answer."""
    server_time_s()


def read_stage(stage: str, now_s: float | None = None) -> Standing:
    """Return what the stage's circuit and budgets stand at. Raises CapacityUnavailable."""
    return standing_from(call("read_stage", keys.of_stage(stage), [limits_argument()], now_s))
