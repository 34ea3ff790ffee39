"""Step 6a: candidates get a slot, or not; one script call per stage."""

from collections.abc import Sequence

from dispatch.capacity.admission import Verdict, Wish, admit_leases
from dispatch.capacity.leases import Claim
from dispatch.capacity.scripts import CapacityUnavailable
from generation.stages import STAGES

from .context import Candidate, Run

REFUSALS = {Verdict.CIRCUIT_OPEN, Verdict.HALF_OPEN_LIMIT, Verdict.RETRY_BUDGET_EXCEEDED}


def admit(run: Run, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those that hold a lease now. Each must be prepared or given back."""
    granted: list[Candidate] = []
    for stage in STAGES.values():
        of_stage = [candidate for candidate in candidates if candidate.stage == stage.name]
        if of_stage:
            granted += _admit_stage(run, of_stage)
    return granted


def _admit_stage(run: Run, candidates: Sequence[Candidate]) -> list[Candidate]:
    name = candidates[0].stage
    wishes = [
        Wish(Claim(candidate.asset_pk, candidate.dispatch_id), candidate.retry_type, candidate.retry_worker)
        for candidate in candidates
    ]
    try:
        verdicts = admit_leases(STAGES[name], run.lease.fence(), run.quotas[name], run.active.get(name, 0), wishes)
    except CapacityUnavailable as error:
        run.report.error("capacity_unavailable", message=str(error))
        return []
    run.report.throttled += verdicts.count(Verdict.BACKPRESSURE)
    run.report.skipped += verdicts.count(Verdict.DUPLICATE)
    for candidate, verdict in zip(candidates, verdicts, strict=True):
        if verdict in REFUSALS:
            run.report.error(verdict, candidate.asset_pk)
    return [candidate for candidate, verdict in zip(candidates, verdicts, strict=True) if verdict == Verdict.GRANTED]
