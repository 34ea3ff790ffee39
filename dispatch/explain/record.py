"""What the record says of an asset: each reason of the gate, with its numbers."""

from collections.abc import Callable

from django.utils import timezone

from dispatch.models import Dispatch
from generation import gate
from generation.models import Asset, LayerConfig, StageConfig, SystemConfig, Target, Task
from generation.models.layers import Pausable
from generation.stages import STAGES

from .reason import Reason, moment

RUNNING, FAILED, ENDING, REQUEUED = "running", "failed", "ending", "requeued"


def running(asset: Asset) -> Reason:
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


def failed(asset: Asset) -> Reason:
    said = asset.failure_message or asset.failure_reason
    return Reason(FAILED, f"It failed: {said}", "Retry, or regenerate.", {"cause": asset.failure_reason})


def _cancelled(asset: Asset, reason: str) -> Reason:
    layer = _layer(asset)
    numbers = {"since": moment(layer.cancelled_at), "by": layer.cancelled_by}
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
        {"what": what, "since": moment(row.paused_at), "by": row.paused_by, "why": row.paused_why}
        for what, row in rows
        if row.paused_at
    ]
    told = "; ".join(f"{one['what']} by {one['by']}{': ' if one['why'] else ''}{one['why']}" for one in paused)
    return Reason(reason, f"Paused: {told}.", "Resume.", {"paused": paused})


def _blocked(asset: Asset, reason: str) -> Reason:
    task = Task.objects.filter(targets__asset=asset, targets__status=Target.Status.OPEN).first()
    if task is None or task.status != Task.Status.BLOCKED:
        return Reason(reason, "Its task is not active.", "Regenerate.", {})
    words = f"Its task is blocked: {task.reason.replace(':', ': ').replace('_', ' ')}."
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


def _layer(asset: Asset) -> LayerConfig:
    return LayerConfig.objects.filter(book=asset.book_id, stage=asset.stage).first() or LayerConfig()


def ending(asset: Asset) -> Reason | None:
    """Return that an earlier dispatch of a queued asset has not ended yet."""
    if not Dispatch.objects.filter(asset=asset, status=Dispatch.Status.ACTIVE).exists():
        return None
    return Reason(ENDING, "What was being made of it for an earlier command is ended.", "The next tick does that.", {})


REQUEUE = Reason(REQUEUED, "It changed while it was made, and is asked for.", "The next tick queues it again.", {})
