"""Why an asset does not run: every check of gate and admission in order, with its numbers and what would change it.

One function, the same answer everywhere: terminal, API, admin. Changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from dispatch.capacity.snapshot import CapacityUnavailable, Circuit, Standing, Verdict, read_stage
from dispatch.config import config
from dispatch.models import Dispatch, StageWorkers
from dispatch.tick.select import in_order
from generation import gate, selectors
from generation.lifecycle import DISPATCHABLE, State
from generation.models import Asset, LayerConfig, StageConfig, SystemConfig, Target, Task
from generation.models.layers import Pausable
from generation.stages import STAGES, StageName

NO_WORKER, QUOTA, RUNNING, NEXT, FAILED = "no_worker", "quota", "running", "next", "failed"
NO_CAPACITY = "capacity_unavailable"
MOST_HOLDERS = 20


@dataclass(frozen=True)
class Reason:
    """`reason` is stable, for programs; `words` say what, `remedy` what would change it; `numbers` are JSON."""

    reason: str
    words: str
    remedy: str
    numbers: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {"reason": self.reason, "words": self.words, "remedy": self.remedy, "numbers": self.numbers}


def explain(asset: Asset) -> list[Reason]:
    """Return every reason why the asset does not run, in the order in which it is asked; one if it does run or is done.

    The first that holds is the one the tick acts on; the others would hold after it.
    """
    if asset.state == State.GENERATING:
        return [_running(asset)]
    if asset.state == State.READY:
        return []
    holding = gate.all_reasons(asset.pk)
    if gate.NO_ACTIVE_TASK in holding:
        # Without a task none can be blocked.
        holding.remove(gate.BLOCKED)
    reasons = [DETAILS[reason.partition(":")[0]](asset, reason) for reason in holding]
    if asset.state == State.FAILED:
        reasons.insert(0, _failed(asset))
    if asset.state not in DISPATCHABLE:
        return reasons
    return [*reasons, *_admission(asset, may_start=not reasons)]


def _running(asset: Asset) -> Reason:
    dispatch = Dispatch.objects.filter(asset=asset, status=Dispatch.Status.ACTIVE).first()
    if dispatch is None:
        return Reason(RUNNING, "Nothing makes it.", "The next tick puts it right.", {})
    running = list(dispatch.jobs.values_list("running_at", flat=True))
    since = [moment for moment in running if moment]
    words = "A worker makes it." if since else "It is handed over and waits for a worker."
    numbers = {
        "percent": asset.progress_percent,
        "parts": [asset.parts_done, asset.parts_total],
        "handed_over": dispatch.created_at.isoformat(),
        "running_since": min(since).isoformat() if since else None,
    }
    return Reason(RUNNING, words, "", numbers)


def _failed(asset: Asset) -> Reason:
    said = asset.failure_message or asset.failure_reason
    return Reason(FAILED, f"It failed: {said}", "Retry, or regenerate.", {"cause": asset.failure_reason})


def _cancelled(asset: Asset, reason: str) -> Reason:
    layer = _layer(asset)
    numbers = {"since": _moment(layer.cancelled_at), "by": layer.cancelled_by}
    return Reason(reason, f"It was stopped by {layer.cancelled_by or 'an operator'}.", "Regenerate.", numbers)


def _no_active_task(asset: Asset, reason: str) -> Reason:
    return Reason(reason, "Nobody asked for it.", "Regenerate.", {})


def _layer_disabled(asset: Asset, reason: str) -> Reason:
    return Reason(reason, f"The layer {asset.stage} is off for this book.", "Switch the layer on, then regenerate.", {})


def _paused(asset: Asset, reason: str) -> Reason:
    rows: list[tuple[str, Pausable]] = [("everything", row) for row in SystemConfig.objects.all()]
    rows += [(asset.stage, row) for row in StageConfig.objects.filter(stage=asset.stage)]
    rows += [("this book", _layer(asset))]
    paused = [
        {"what": what, "since": _moment(row.paused_at), "by": row.paused_by, "why": row.paused_why}
        for what, row in rows
        if row.paused_at
    ]
    told = "; ".join(f"{one['what']} by {one['by']}{': ' if one['why'] else ''}{one['why']}" for one in paused)
    return Reason(reason, f"Paused: {told}.", "Resume.", {"paused": paused})


def _blocked(asset: Asset, reason: str) -> Reason:
    task = Task.objects.filter(targets__asset=asset, targets__status=Target.Status.OPEN).first()
    if task is None or task.status != Task.Status.BLOCKED:
        return Reason(reason, "Its task is not active.", "Regenerate.", {})
    words = f"Its task is blocked: {task.reason.replace(':', ', ').replace('_', ' ')}."
    return Reason(reason, words, "Put that right, then retry.", {"task": task.pk, "reason": task.reason})


def _deferred(asset: Asset, reason: str) -> Reason:
    until = asset.deferred_until or timezone.now()
    left_s = max(0, round((until - timezone.now()).total_seconds()))
    words = f"It waits {left_s} s more: {asset.deferral_reason.replace('_', ' ')}."
    numbers = {"seconds": left_s, "until": until.isoformat(), "cause": asset.deferral_reason}
    numbers["retries_left"] = asset.retries_left
    return Reason(reason, words, "It goes on by itself; a new command ends it.", numbers)


def _waiting(asset: Asset, reason: str) -> Reason:
    other = reason.partition(":")[2]
    state = Asset.objects.filter(scene=asset.scene_id, stage=other).values_list("state", flat=True).first()
    return Reason(reason, f"It waits for the scene's {other}, which is {state}.", f"See the {other}.", {"state": state})


def _needs(asset: Asset, reason: str) -> Reason:
    other = reason.removeprefix(gate.NEEDS)
    return Reason(reason, f"It is made from the scene's {other}, which is not there.", f"Regenerate {other} too.", {})


DETAILS: dict[str, Callable[[Asset, str], Reason]] = {
    gate.CANCELLED: _cancelled,
    gate.NO_ACTIVE_TASK: _no_active_task,
    gate.LAYER_DISABLED: _layer_disabled,
    gate.PAUSED: _paused,
    gate.BLOCKED: _blocked,
    gate.DEFERRED: _deferred,
    gate.WAITING_FOR.rstrip(":"): _waiting,
    **{f"{gate.NEEDS}{other}": _needs for stage in STAGES.values() for other in stage.needs},
    gate.DELETED: lambda asset, reason: Reason(reason, "It is deleted.", "", {}),
}


def _admission(asset: Asset, *, may_start: bool) -> list[Reason]:
    stage = StageName(asset.stage)
    try:
        standing, unreadable = read_stage(stage), None
    except CapacityUnavailable as error:
        standing, unreadable = Standing(), Reason(NO_CAPACITY, f"Redis cannot be used: {error}", "Start Redis.", {})
    workers = _workers(stage)
    quota = _quota(stage)
    checks = [unreadable, _no_worker(stage, workers), _circuit(asset, standing), _full(quota), _budget(asset, standing)]
    reasons = [reason for reason in checks if reason]
    order = in_order(stage, standing) if may_start else []
    if asset.pk in order:
        numbers = workers | {"circuit": standing.circuit, "failures": standing.failures} | quota
        reasons.append(_next(asset, order, numbers))
    return reasons


def _workers(stage: StageName) -> dict[str, Any]:
    row = StageWorkers.objects.filter(stage=stage).first() or StageWorkers()
    return {"workers": row.count, "draining": row.draining, "last_seen": _moment(row.seen_at)}


def _no_worker(stage: StageName, numbers: dict[str, Any]) -> Reason | None:
    if numbers["workers"]:
        return None
    words = f"No {stage} worker is running."
    if numbers["draining"]:
        words = f"The {stage} workers that run finish their last job and take no other."
    return Reason(NO_WORKER, words, f"Start one: manage.py rqworker gpu-{stage}.", dict(numbers))


def _circuit(asset: Asset, standing: Standing) -> Reason | None:
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
        case Circuit.HALF_OPEN if standing.tests >= most or asset.retry_type:
            words = f"{stopped} and is tested, first with what has not failed; {standing.tests} of {most} tests run."
            return Reason(Verdict.HALF_OPEN_LIMIT, words, remedy, numbers)
    return None


def _quota(stage: StageName) -> dict[str, Any]:
    active = Dispatch.objects.filter(stage=stage, status=Dispatch.Status.ACTIVE).order_by("pk")
    return {
        "quota": selectors.quotas()[stage],
        "in_use": active.count(),
        "holders": list(active.values_list("asset_pk", flat=True)[:MOST_HOLDERS]),
    }


def _full(numbers: dict[str, Any]) -> Reason | None:
    if numbers["in_use"] < numbers["quota"]:
        return None
    words = f"All {numbers['quota']} slots of the stage are in use."
    return Reason(QUOTA, words, "One becomes free when one of them ends; or raise the quota.", dict(numbers))


def _budget(asset: Asset, standing: Standing) -> Reason | None:
    kind, worker, limits = asset.retry_type, asset.retry_worker, config()
    if kind not in standing.spent_types and (not worker or worker not in standing.spent_workers):
        return None
    numbers = {
        "type": kind,
        "retries": standing.retries.get(kind, 0),
        "retries_most": limits.retries_by_type.get(kind, 0),
        "of_worker": standing.workers.get(worker, 0),
        "of_worker_most": limits.retries_of_worker,
        "of_all": standing.all_retries,
        "of_all_most": limits.retries_of_all,
    }
    words = f"It is a retry after a failure ({kind}), and there were too many retries lately."
    wait = round(limits.retries_by_type_window.total_seconds())
    remedy = f"It goes on by itself within {wait} s; a new command does now."
    return Reason(Verdict.RETRY_BUDGET_EXCEEDED, words, remedy, numbers)


def _next(asset: Asset, order: list[int], numbers: dict[str, Any]) -> Reason:
    queued = Asset.objects.filter(book=asset.book_id, stage=asset.stage, state__in=DISPATCHABLE)
    of_book = set(queued.values_list("pk", flat=True))
    numbers["place"] = order.index(asset.pk) + 1
    numbers["place_in_book"] = [pk for pk in order if pk in of_book].index(asset.pk) + 1
    wait = round(config().tick_interval.total_seconds())
    words = f"It is number {numbers['place']} of the stage, {numbers['place_in_book']} of its book."
    return Reason(NEXT, words, f"A tick takes the first ones every {wait} s; Move to front.", numbers)


def _layer(asset: Asset) -> LayerConfig:
    return LayerConfig.objects.filter(book=asset.book_id, stage=asset.stage).first() or LayerConfig()


def _moment(value: Any) -> str | None:
    return value.isoformat() if value else None
