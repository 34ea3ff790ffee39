"""What may come of handing an asset over when no result does: one closed table of reasons."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from dispatch.failures import storable

# The columns that keep a reason.
REASON_MAX = 40


class Bucket(StrEnum):
    CAPACITY = "capacity"  # nobody has room: the dispatch ends, the asset waits 60 s
    UNKNOWN = "unknown"  # it may be at the hub: the dispatch stays, the same ids go again after 60 s
    IDEMPOTENT = "idempotent"  # this very work is done already: closed if its file is there, else waits 900 s
    FENCED = "fenced"  # the order does not hold as it stands: the dispatch ends, the asset waits 900 s
    WITHOUT_JOB = "without_job"  # there is nothing to send: ready with proof, or failed for good
    NEXT_TICK = "next_tick"  # tried again at once; the same reason twice running waits 60 s, ten times fails


# Buckets whose asset waits without anything being wrong with it.
DEFERRABLE = frozenset({Bucket.CAPACITY, Bucket.IDEMPOTENT, Bucket.FENCED})


@dataclass(frozen=True)
class HandOver:
    """One reason: where it leads, and what an operator reads."""

    reason: str
    bucket: Bucket
    words: str


OUTCOMES: dict[str, HandOver] = {
    outcome.reason: outcome
    for outcome in (
        HandOver("no_worker_available", Bucket.CAPACITY, "The hub has no free worker for it now."),
        HandOver("duplicate_pending", Bucket.CAPACITY, "The hub still holds an earlier job of it."),
        HandOver("ambiguous_post", Bucket.UNKNOWN, "Nobody knows whether the hub took it; it is sent again as it is."),
        HandOver("intent_receipt_unavailable", Bucket.UNKNOWN, "The hub could not give a receipt; it is sent again."),
        HandOver("already_completed", Bucket.IDEMPOTENT, "This order was carried out before."),
        HandOver("stale_intent", Bucket.FENCED, "A newer command took its place."),
        HandOver("receipt_conflict", Bucket.FENCED, "The hub knows this job under another dispatch."),
        HandOver("intent_not_active", Bucket.FENCED, "Its task is not active any more."),
        HandOver("intent_corrupt", Bucket.FENCED, "The stored order is not the one that was prepared."),
        HandOver("intent_missing", Bucket.FENCED, "No task asks for it."),
        HandOver("already_ready", Bucket.WITHOUT_JOB, "What is published is current."),
        HandOver("cache_hit", Bucket.WITHOUT_JOB, "The hub has made exactly this before."),
        HandOver("all_parts_present", Bucket.WITHOUT_JOB, "All its parts are there."),
        HandOver("nothing_to_render", Bucket.WITHOUT_JOB, "The scene has nothing that this stage could render."),
        HandOver("no_jobs_sent", Bucket.NEXT_TICK, "None of its jobs was sent."),
        HandOver("send_failed", Bucket.NEXT_TICK, "Sending it failed."),
        HandOver("hub_unavailable", Bucket.NEXT_TICK, "The hub could not be reached."),
        HandOver("circuit_open", Bucket.NEXT_TICK, "The stage is stopped after too many failures."),
        HandOver("dispatch_error", Bucket.NEXT_TICK, "Preparing it failed."),
    )
}


def outcome_named(word: str) -> HandOver:
    """Return the outcome of a reason; a word that nobody knows is tried again at the next tick, and bounded there."""
    word = storable(word)[:REASON_MAX] or "unknown"
    return OUTCOMES.get(word) or HandOver(word, Bucket.NEXT_TICK, f"The hub answered {word!r}.")


def verdict(reasons: Sequence[str]) -> HandOver:
    """Return the outcome of a dispatch none of whose jobs was sent, from the reason of each.

    If every reason is deferrable, the most frequent counts, the first seen of a tie; else the first that is not.
    """
    if not reasons:
        return OUTCOMES["no_jobs_sent"]
    outcomes = [outcome_named(reason) for reason in reasons]
    failures = [outcome for outcome in outcomes if outcome.bucket not in DEFERRABLE]
    if failures:
        return failures[0]
    return Counter(outcomes).most_common(1)[0][0]
