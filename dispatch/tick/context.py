"""What the steps of one run share."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db import DatabaseError

from dispatch.capacity.standing import Standing
from dispatch.hubs.base import Hub
from dispatch.results.finalise import finalise_if_active
from dispatch.results.outcomes import Outcome
from generation.stages import StageName

from .lease import Lease
from .report import Report

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Candidate:
    """An asset that may start, with the dispatch_id it would get."""

    asset_pk: int
    book_pk: int
    stage: StageName
    intent: int
    dispatch_id: str
    retry_type: str = ""
    retry_worker: str = ""


@dataclass
class Run:
    lease: Lease
    hub: Hub
    quotas: Mapping[StageName, int]
    report: Report = field(default_factory=Report)
    # Active dispatches by stage, as this run counted them.
    active: dict[StageName, int] = field(default_factory=dict)
    # Assets whose dispatch was replaced by force: their slot passes on to them.
    replaced: set[int] = field(default_factory=set)
    # What circuits and budgets stood at when this run renewed.
    standings: dict[StageName, Standing] = field(default_factory=dict)
    capacity_ok: bool = True

    def finalise(self, dispatch_id: str, outcome: Outcome) -> bool:
        """End a dispatch as `finalise_if_active` does, while the tick is ours; a failure stops no other."""
        try:
            return finalise_if_active(dispatch_id, outcome, within=self.lease.transaction)
        except DatabaseError as error:
            logger.exception("dispatch %s was not ended", dispatch_id)
            self.report.error("dispatch_error", message=f"{dispatch_id}: {error}")
            return False
