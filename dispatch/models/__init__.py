from .dispatches import Dispatch
from .jobs import Job
from .parts import Part
from .tick import TickLease, TickReport, TickRing
from .workers import StageWorkers

__all__ = ["Dispatch", "Job", "Part", "StageWorkers", "TickLease", "TickReport", "TickRing"]
