"""Whoever wants to know that a dispatch ended."""

import logging
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.dispatch import Signal
from django.utils import timezone

from dispatch.models import Dispatch

logger = logging.getLogger(__name__)

# Sent once per dispatch, after the commit, with `ended`: an Ended. What a receiver raises is logged, and nothing else.
dispatch_ended = Signal()


class Result(StrEnum):
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


RESULTS = {
    Dispatch.Status.SUCCEEDED: Result.COMPLETED,
    Dispatch.Status.FAILED: Result.FAILED,
    Dispatch.Status.CANCELLED: Result.CANCELLED,
}


@dataclass(frozen=True)
class Ended:
    """`reason` says why it failed or was cancelled. Its rows may be gone: the numbers are what they were."""

    dispatch_id: str
    result: Result
    reason: str
    book_pk: int
    scene_pk: int
    asset_pk: int
    stage: str
    began_at: datetime
    ended_at: datetime


def tell(dispatch: Dispatch) -> None:
    """Tell every listener. Never raises: a process that dies before it told leaves them untold."""
    ended = Ended(
        dispatch_id=dispatch.dispatch_id,
        result=RESULTS[Dispatch.Status(dispatch.status)],
        reason=dispatch.reason,
        book_pk=dispatch.book_pk,
        scene_pk=dispatch.scene_pk,
        asset_pk=dispatch.asset_pk,
        stage=dispatch.stage,
        began_at=dispatch.created_at,
        ended_at=timezone.now(),
    )
    for receiver, answer in dispatch_ended.send_robust(sender=Dispatch, ended=ended):
        if isinstance(answer, Exception):
            logger.error("%r was told of dispatch %s and failed", receiver, dispatch.dispatch_id, exc_info=answer)
