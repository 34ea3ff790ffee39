from .dispatches import Dispatch
from .jobs import Job
from .parts import Part
from .reconcile import ReconcileState
from .tick import TickLease, TickReport, TickRing
from .workers import StageWorkers

__all__ = ["Dispatch", "Job", "Part", "ReconcileState", "StageWorkers", "TickLease", "TickReport", "TickRing"]
