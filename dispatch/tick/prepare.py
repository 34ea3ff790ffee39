"""Step 6b: a granted candidate becomes a dispatch with reserved jobs, or gives its slot back."""

import logging
from collections.abc import Sequence
from itertools import groupby

from django.db import DatabaseError, transaction
from django.db.models import F
from django.db.models.functions import Now

from dispatch.capacity.leases import Claim, End, release_lease
from dispatch.capacity.scripts import CapacityUnavailable
from dispatch.outcomes import OUTCOMES
from dispatch.results import parts
from dispatch.results.refusals import GAVE_UP, is_last_refusal, refusal_values
from generation import gate, journal, selectors
from generation.lifecycle import DISPATCHABLE, State
from generation.models import Asset, Book, LayerConfig, Target
from generation.stages import STAGES, StageName

from .boundaries import Boundary, reach
from .completed import close_completed
from .context import Candidate, Run
from .fences import note_fences
from .orders import write_dispatch

logger = logging.getLogger(__name__)

DISPATCH_ERROR = OUTCOMES["dispatch_error"]
NOTHING_TO_RENDER = OUTCOMES["nothing_to_render"]


def prepare(run: Run, granted: Sequence[Candidate]) -> None:
    """Write the dispatches book by book. Every grant that did not become one is given back at once."""
    to_prepare = close_completed(run, granted)
    if len(to_prepare) < len(granted):
        _give_back(run, [candidate for candidate in granted if candidate not in to_prepare])
    parts.drop_lost([candidate.asset_pk for candidate in to_prepare])
    by_book = sorted(to_prepare, key=lambda candidate: candidate.book_pk)
    for book_pk, group in groupby(by_book, key=lambda candidate: candidate.book_pk):
        batch = list(group)
        prepared: set[str] = set()
        try:
            prepared = _prepare_book(run, book_pk, batch)
        except DatabaseError as error:
            logger.exception("book %s was not prepared", book_pk)
            run.report.error(DISPATCH_ERROR.reason, batch[0].asset_pk, str(error))
        reach(Boundary.AFTER_PREPARE_COMMIT)
        run.report.dispatched += len(prepared)
        _give_back(run, [candidate for candidate in batch if candidate.dispatch_id not in prepared])


def _prepare_book(run: Run, book_pk: int, batch: Sequence[Candidate]) -> set[str]:
    """Return the dispatch ids written. The gate is read again, in a statement after the one that locks the book."""
    with run.lease.transaction():
        locked = Book.objects.lock([book_pk])
        if not locked:
            return set()
        wanted = {candidate.asset_pk: candidate for candidate in batch}
        may_start = gate.may_start({candidate.stage for candidate in batch})
        startable = Asset.objects.filter(may_start, pk__in=wanted).select_related("scene__chapter", "book")
        allowed = list(startable.select_for_update(no_key=True, of=("self",)).order_by("pk"))
        note_fences(wanted[pk] for pk in wanted.keys() - {asset.pk for asset in allowed})
        timeouts = selectors.job_timeouts_s([book_pk])
        prepared = {
            wanted[asset.pk].dispatch_id
            for asset in allowed
            if _write_alone(run, asset, wanted[asset.pk], timeouts.get((book_pk, asset.stage)))
        }
        _note_served(locked[0], {candidate.stage for candidate in batch if candidate.dispatch_id in prepared})
        reach(Boundary.BEFORE_PREPARE_COMMIT)
    return prepared


def _write_alone(run: Run, asset: Asset, candidate: Candidate, timeout_s: int | None) -> bool:
    """Write one asset behind a savepoint: what goes wrong with it is counted on it, and stops no other."""
    try:
        with transaction.atomic():
            return _write(run, asset, candidate, timeout_s)
    except Exception as error:
        logger.exception("asset %s was not prepared", asset.pk)
        run.report.error(DISPATCH_ERROR.reason, asset.pk, repr(error))
        _count_refusal(asset)
        return False


def _count_refusal(asset: Asset) -> None:
    if is_last_refusal(asset, DISPATCH_ERROR):
        _give_up(asset, DISPATCH_ERROR.reason, GAVE_UP)
    else:
        still = Asset.objects.filter(pk=asset.pk, intent=asset.intent)
        still.update(**refusal_values(asset, DISPATCH_ERROR))


def _give_up(asset: Asset, reason: str, message: str) -> None:
    still = Asset.objects.filter(pk=asset.pk, intent=asset.intent)
    if still.move(DISPATCHABLE, State.FAILED, failure_reason=reason, failure_message=message):
        open_target = Target.objects.filter(asset=asset.pk, intent=asset.intent, status=Target.Status.OPEN)
        open_target.update(status=Target.Status.FAILED)
        change = journal.change_text(asset.state, State.FAILED)
        journal.record("gave_up", asset.book, journal.Subject.of(asset), change=change, reason=reason)


def _write(run: Run, asset: Asset, candidate: Candidate, timeout_s: int | None) -> bool:
    if asset.intent != candidate.intent:
        return False  # a newer command: selected again at the present intent
    scene, stage = asset.scene, STAGES[StageName(asset.stage)]
    if not scene.has_words:
        _give_up(asset, NOTHING_TO_RENDER.reason, NOTHING_TO_RENDER.words)
        run.report.completed += 1
        return False
    moved = Asset.objects.filter(pk=asset.pk, intent=candidate.intent).move(
        DISPATCHABLE,
        State.GENERATING,
        making_content_version=scene.content_version,
        making_audio_config_version=scene.audio_config_version,
    )
    if not moved:
        change = f"{asset.state} ↛ {State.GENERATING}"
        journal.record("transition_refused", asset.book, journal.Subject.of(asset), change=change, reason="prepare")
        run.report.error("transition_refused", asset.pk, change)
        return False
    write_dispatch(asset, candidate.dispatch_id, run.hub.name, timeout_s or stage.job_timeout_s)
    return True


def _note_served(book: Book, stages: set[StageName]) -> None:
    if stages:
        LayerConfig.objects.set(book, stages, last_dispatched_at=Now())
        Book.objects.filter(pk=book.pk).update(revision=F("revision") + 1)


def _give_back(run: Run, candidates: Sequence[Candidate]) -> None:
    reach(Boundary.BEFORE_RELEASE)
    for candidate in candidates:
        try:
            release_lease(candidate.stage, Claim(candidate.asset_pk, candidate.dispatch_id), End())
        except CapacityUnavailable as error:
            run.report.error("capacity_unavailable", candidate.asset_pk, str(error))
