"""Granted candidates whose order was carried out before: closed with proof, never rendered twice."""

import logging
from collections.abc import Sequence

from django.db import DatabaseError
from django.db.models import F

from dispatch.models import Dispatch
from dispatch.outcomes import OUTCOMES
from dispatch.results.proof import has_proof
from dispatch.results.refusals import refusal_values
from generation import journal
from generation.lifecycle import DISPATCHABLE, State
from generation.models import Asset, Book, Target

from .context import Candidate, Run

logger = logging.getLogger(__name__)

ALREADY_COMPLETED = OUTCOMES["already_completed"]


def close_completed(run: Run, granted: Sequence[Candidate]) -> list[Candidate]:
    """Close those with a succeeded dispatch of their intent, and return the others.

    Without its file such an asset waits 900 s: something took the file away, and reconciliation says so.
    """
    done = Dispatch.objects.filter(
        asset__in=[candidate.asset_pk for candidate in granted],
        intent=F("asset__intent"),
        status=Dispatch.Status.SUCCEEDED,
    )
    completed = set(done.values_list("asset", flat=True))
    for candidate in granted:
        if candidate.asset_pk in completed:
            proof = has_proof(candidate.asset_pk)
            try:
                with run.lease.transaction():
                    _close(run, candidate, has_file=proof)
            except DatabaseError as error:
                logger.exception("asset %s was not closed", candidate.asset_pk)
                run.report.error(ALREADY_COMPLETED.reason, candidate.asset_pk, str(error))
    return [candidate for candidate in granted if candidate.asset_pk not in completed]


def _close(run: Run, candidate: Candidate, *, has_file: bool) -> None:
    """Close one under the Book lock, if it is still at this intent."""
    locked = Book.objects.lock([candidate.book_pk])
    current = Asset.objects.filter(pk=candidate.asset_pk, intent=candidate.intent, state__in=DISPATCHABLE)
    asset = current.select_related("scene").first()
    if asset is None or not locked:
        return
    if not has_file:
        current.update(**refusal_values(asset, ALREADY_COMPLETED))
        return
    current.move(DISPATCHABLE, State.READY, proven=True)
    open_target = Target.objects.filter(asset=asset, intent=candidate.intent, status=Target.Status.OPEN)
    open_target.update(status=Target.Status.DONE)
    change = journal.change_text(asset.state, State.READY, proven=True)
    journal.record("closed", locked[0], journal.Subject.of(asset), change=change, reason=ALREADY_COMPLETED.reason)
    run.report.completed += 1
