from .dispatches import Dispatch
from .jobs import Job
from .tick import TickLease, TickReport, TickRing
from .workers import StageWorkers

__all__ = ["Dispatch", "Job", "StageWorkers", "TickLease", "TickReport", "TickRing"]
