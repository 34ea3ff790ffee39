"""Between stop and settle: what assembles is asked for again, as long as it stands."""

from dispatch.models import Dispatch
from dispatch.results.assembly_requests import request_assembly

from .boundaries import Boundary, reach
from .context import Run

MOST_PER_TICK = 200


def assemble(run: Run) -> None:
    """Ask for the joining of every dispatch whose parts are all there. A job that is queued or runs stays as it is."""
    assembling = Dispatch.objects.filter(status=Dispatch.Status.ACTIVE, assembling_at__isnull=False)
    waiting = assembling.order_by("assembling_at").values_list("dispatch_id", flat=True)[:MOST_PER_TICK]
    problem = request_assembly(list(waiting))
    if problem:
        run.report.error("hub_unavailable", message=problem)
    reach(Boundary.ASSEMBLING)
