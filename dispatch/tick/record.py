"""Step 6d: what the hub said becomes facts."""

from collections.abc import Sequence

from django.db.models import F, Q
from django.db.models.functions import Now

from dispatch.config import config
from dispatch.failures import Failure, FailureType
from dispatch.hubs.base import HubRejected, HubUnavailable, Receipt, SubmissionUnknown
from dispatch.models import Job
from dispatch.results.outcomes import Failed, Refused

from .boundaries import Boundary, reach
from .context import Run
from .submit import Sending


def record(run: Run, sendings: Sequence[Sending]) -> None:
    """Note receipts; a dispatch of which nothing could be sent is rolled back, free of charge."""
    received = [sending.job_pk for sending in sendings if isinstance(sending.answer, Receipt)]
    unknown = [sending.job_pk for sending in sendings if isinstance(sending.answer, SubmissionUnknown)]
    # The hub says that it took nothing: as if it had not been tried.
    refused = [sending.job_pk for sending in sendings if isinstance(sending.answer, HubUnavailable)]
    with run.lease.transaction():
        reserved = Job.objects.filter(status=Job.Status.RESERVED)
        reserved.filter(pk__in=received).update(
            status=Job.Status.SENT, sent_at=Now(), next_send_at=None, absent_since=None
        )
        reserved.filter(pk__in=unknown).update(next_send_at=Now() + config().resend_unknown_after)
        reserved.filter(pk__in=refused).update(sends=F("sends") - 1)
        reach(Boundary.BEFORE_RECORD_COMMIT)
    reach(Boundary.AFTER_RECORD_COMMIT)
    for sending in sendings:
        _end_unsent(run, sending)


def _end_unsent(run: Run, sending: Sending) -> None:
    match sending.answer:
        case HubUnavailable():
            run.report.error("hub_unavailable", sending.asset_pk, str(sending.answer))
            if not _has_reached_hub(sending.dispatch_id):
                run.finalise(sending.dispatch_id, Refused("hub_unavailable"))
        case SubmissionUnknown():
            run.report.error("ambiguous_post", sending.asset_pk, str(sending.answer))
        case HubRejected():
            run.report.error("hub_rejected", sending.asset_pk, str(sending.answer))
            failure = Failure(FailureType.PERMANENT, "hub_rejected", str(sending.answer))
            run.finalise(sending.dispatch_id, Failed(failure))
        case _:
            return


def _has_reached_hub(dispatch_id: str) -> bool:
    """True when the hub has, or may have, any job of the dispatch: then the rest stays reserved."""
    jobs = Job.objects.filter(dispatch__dispatch_id=dispatch_id)
    return jobs.filter(Q(sends__gt=0) | ~Q(status=Job.Status.RESERVED)).exists()
