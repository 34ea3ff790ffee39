"""Between stop and settle: what assembles is asked for again, as long as it stands."""

from dispatch.failures import Failure
from dispatch.hubs.base import Life
from dispatch.hubs.rq.assembly import life
from dispatch.models import Dispatch
from dispatch.results.assembly_requests import request_assembly
from dispatch.results.outcomes import Failed

from .boundaries import Boundary, reach
from .context import Run

MOST_PER_TICK = 200
# RQ ends an attempt after half an hour; what was begun this often and never ended will not end.
MOST_ATTEMPTS = 5
GAVE_UP = Failure("worker_killed", f"Joining its parts was begun {MOST_ATTEMPTS} times and never finished.")


def assemble(run: Run) -> None:
    """Ask for the joining of every dispatch whose parts are all there. A job that is queued or runs stays as it is.

    Waiting for a worker costs nothing; only attempts count.
    """
    assembling = Dispatch.objects.filter(status=Dispatch.Status.ACTIVE, assembling_at__isnull=False)
    waiting: list[str] = []
    found = assembling.order_by("assembling_at").values_list("dispatch_id", "assembly_attempts")
    for dispatch_id, attempts in found[:MOST_PER_TICK]:
        if attempts >= MOST_ATTEMPTS and life(dispatch_id) == Life.ABSENT:
            run.finalise(dispatch_id, Failed(GAVE_UP))
        else:
            waiting.append(dispatch_id)
    problem = request_assembly(waiting)
    if problem:
        run.report.error("hub_unavailable", message=problem)
    reach(Boundary.ASSEMBLING)
