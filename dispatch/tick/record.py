"""Step 6d: what the hub said becomes facts."""

from collections.abc import Sequence

from django.db.models import F, Q
from django.db.models.functions import Now

from dispatch.config import config
from dispatch.failures import Failure
from dispatch.hubs.base import HubDeclined, HubRejected, HubUnavailable, Receipt, SubmissionUnknown
from dispatch.models import Job
from dispatch.outcomes import DEFERRABLE, Bucket, HandOver, outcome_named, verdict
from dispatch.results.outcomes import Failed, Refused
from dispatch.results.proof import has_proof
from dispatch.results.refusals import NOT_RUNNING
from generation.models import Asset

from .boundaries import Boundary, reach
from .context import Run
from .submit import Sending

NEEDS_PROOF = {Bucket.IDEMPOTENT, Bucket.WITHOUT_JOB}


def record(run: Run, sendings: Sequence[Sending]) -> None:
    """Note receipts; a dispatch of which nothing could be sent is rolled back, free of charge."""
    received = [sending.job_pk for sending in sendings if isinstance(sending.answer, Receipt)]
    unknown = [sending.job_pk for sending in sendings if isinstance(sending.answer, SubmissionUnknown)]
    # The hub says that it took nothing: as if it had not been tried.
    refused = [sending for sending in sendings if isinstance(sending.answer, HubUnavailable | HubDeclined)]
    waiting = [sending.job_pk for sending in refused if _outcome(sending).bucket in DEFERRABLE]
    taken = [sending.asset_pk for sending in sendings if isinstance(sending.answer, Receipt)]
    with run.lease.transaction():
        Asset.objects.filter(pk__in=taken, refusal_count__gt=0).update(**NOT_RUNNING)
        reserved = Job.objects.filter(status=Job.Status.RESERVED)
        Job.objects.filter(pk__in=received).move(
            Job.Status.RESERVED, Job.Status.SENT, sent_at=Now(), next_send_at=None, absent_since=None
        )
        reserved.filter(pk__in=[*unknown, *waiting]).update(next_send_at=Now() + config().resend_unknown_after)
        reserved.filter(pk__in=[sending.job_pk for sending in refused]).update(sends=F("sends") - 1)
        reach(Boundary.BEFORE_RECORD_COMMIT)
    reach(Boundary.AFTER_RECORD_COMMIT)
    for dispatch_id in dict.fromkeys(sending.dispatch_id for sending in sendings):
        _end_unsent(run, [sending for sending in sendings if sending.dispatch_id == dispatch_id])


def _outcome(sending: Sending) -> HandOver:
    """Return the outcome of a sending that came to nothing."""
    answer = sending.answer
    return outcome_named(answer.reason if isinstance(answer, HubDeclined) else "hub_unavailable")


def _end_unsent(run: Run, sendings: Sequence[Sending]) -> None:
    """Roll back a dispatch none of whose jobs the hub has, or may have; otherwise the rest stays reserved."""
    dispatch_id, reasons = sendings[0].dispatch_id, []
    for sending in sendings:
        match sending.answer:
            case HubUnavailable() | HubDeclined():
                reasons.append(_outcome(sending).reason)
                if _outcome(sending).bucket not in DEFERRABLE:
                    run.report.error(_outcome(sending).reason, sending.asset_pk, str(sending.answer))
            case SubmissionUnknown():
                run.report.error(sending.answer.reason, sending.asset_pk, str(sending.answer))
            case HubRejected():
                run.report.error("hub_rejected", sending.asset_pk, str(sending.answer))
                run.finalise(dispatch_id, Failed(Failure("hub_rejected", str(sending.answer))))
                return
    if reasons and not _has_reached_hub(dispatch_id):
        outcome = verdict(reasons)
        proof = outcome.bucket in NEEDS_PROOF and has_proof(sendings[0].asset_pk)
        run.finalise(dispatch_id, Refused(outcome.reason, proof))


def _has_reached_hub(dispatch_id: str) -> bool:
    """True when the hub has, or may have, any job of the dispatch."""
    jobs = Job.objects.filter(dispatch__dispatch_id=dispatch_id)
    return jobs.filter(Q(sends__gt=0) | ~Q(status=Job.Status.RESERVED)).exists()
