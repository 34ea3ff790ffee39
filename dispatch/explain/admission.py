"""What admission would say of an asset that may start: workers, circuit, quota, budgets, and its place."""

from typing import Any

from dispatch.capacity.snapshot import CapacityUnavailable, Circuit, Standing, Verdict, read_stage
from dispatch.config import config
from dispatch.models import Dispatch, StageWorkers
from dispatch.tick.select import in_order
from generation import selectors
from generation.lifecycle import DISPATCHABLE
from generation.models import Asset
from generation.stages import StageName

from .reason import Reason, moment

NO_WORKER, NO_CAPACITY, QUOTA, NEXT = "no_worker", "capacity_unavailable", "quota", "next"
MOST_HOLDERS = 20


def admission_reasons(asset: Asset, *, may_start: bool) -> list[Reason]:
    stage = StageName(asset.stage)
    try:
        standing, unreadable = read_stage(stage), None
    except CapacityUnavailable as error:
        standing, unreadable = Standing(), Reason(NO_CAPACITY, f"Redis cannot be used: {error}", "Start Redis.", {})
    workers, quota = _workers(stage), _quota(stage, standing)
    order = in_order(stage, standing) if may_start else []
    is_test = standing.tests < config().circuit_tests and (asset.pk in order or not may_start)
    circuit = None if is_test and standing.circuit == Circuit.HALF_OPEN else _circuit(standing)
    checks = [unreadable, _no_worker(stage, workers), circuit, _full(quota), _budget(asset, standing)]
    reasons = [reason for reason in checks if reason]
    if asset.pk in order:
        numbers = workers | {"circuit": standing.circuit, "failures": standing.failures} | quota
        reasons.append(_next(asset, order, numbers, is_held=bool(reasons)))
    return reasons


def _workers(stage: StageName) -> dict[str, Any]:
    row = StageWorkers.objects.filter(stage=stage).first() or StageWorkers()
    return {"workers": row.count, "draining": row.draining, "last_seen": moment(row.seen_at)}


def _no_worker(stage: StageName, numbers: dict[str, Any]) -> Reason | None:
    if numbers["workers"]:
        return None
    words = f"No {stage} worker is running."
    if numbers["draining"]:
        words = f"The {stage} workers that run finish their last job and take no other."
    return Reason(NO_WORKER, words, f"Start one: manage.py rqworker gpu-{stage}.", dict(numbers))


def _circuit(standing: Standing) -> Reason | None:
    most = config().circuit_tests
    numbers = {
        "since_s": round(standing.open_for_s),
        "next_test_s": round(standing.next_test_s),
        "tests": standing.tests,
        "tests_most": most,
    }
    stopped = f"The stage was stopped {numbers['since_s']} s ago after too many failures"
    remedy = "The first test that succeeds lets everything go on; or reset the circuit."
    match standing.circuit:
        case Circuit.OPEN:
            words = f"{stopped}; the next test is in {numbers['next_test_s']} s."
            return Reason(Verdict.CIRCUIT_OPEN, words, remedy, numbers)
        case Circuit.HALF_OPEN:
            words = f"{stopped} and is tested, first with what has not failed; {standing.tests} of {most} tests run."
            return Reason(Verdict.HALF_OPEN_LIMIT, words, remedy, numbers)
    return None


def _quota(stage: StageName, standing: Standing) -> dict[str, Any]:
    """A slot is in use while a dispatch or a lease holds it, as admission counts."""
    active = Dispatch.objects.filter(stage=stage, status=Dispatch.Status.ACTIVE).order_by("pk")
    return {
        "quota": selectors.quotas()[stage],
        "in_use": max(active.count(), standing.leases),
        "holders": list(active.values_list("asset_pk", flat=True)[:MOST_HOLDERS]),
    }


def _full(numbers: dict[str, Any]) -> Reason | None:
    if numbers["in_use"] < numbers["quota"]:
        return None
    if not numbers["quota"]:
        return Reason(QUOTA, "The quota of the stage is 0: nothing of it starts.", "Raise the quota.", dict(numbers))
    words = f"All {numbers['quota']} slots of the stage are in use."
    return Reason(QUOTA, words, "One becomes free when one of them ends; or raise the quota.", dict(numbers))


def _budget(asset: Asset, standing: Standing) -> Reason | None:
    kind, worker, limits = asset.retry_type, asset.retry_worker, config()
    if kind not in standing.spent_types and (not worker or worker not in standing.spent_workers):
        return None
    numbers = {
        "type": kind,
        "retries": standing.retries.get(kind, 0),
        "retries_most": limits.retry_limits.get(kind, 0),
        "of_worker": standing.workers.get(worker, 0),
        "of_worker_most": limits.retries_of_worker,
        "of_all": standing.all_retries,
        "of_all_most": limits.retries_of_all,
    }
    words = f"It is a retry after a failure ({kind}), and there were too many retries lately."
    wait = round(limits.retries_by_type_window.total_seconds())
    remedy = f"It goes on by itself within {wait} s; a new command does now."
    return Reason(Verdict.RETRY_BUDGET_EXCEEDED, words, remedy, numbers)


def _next(asset: Asset, order: list[int], numbers: dict[str, Any], *, is_held: bool) -> Reason:
    queued = Asset.objects.filter(book=asset.book_id, stage=asset.stage, state__in=DISPATCHABLE)
    of_book = set(queued.values_list("pk", flat=True))
    numbers["place"] = order.index(asset.pk) + 1
    numbers["place_in_book"] = [pk for pk in order if pk in of_book].index(asset.pk) + 1
    wait = round(config().tick_interval.total_seconds())
    words = f"It is number {numbers['place']} of the stage, {numbers['place_in_book']} of its book."
    remedy = "" if is_held else f"A tick takes the first ones every {wait} s; Move to front."
    return Reason(NEXT, words, remedy, numbers)
