"""Why an asset does not run: every check of gate and admission in order, with its numbers and what would change it.

One function, the same answer everywhere: terminal, API, admin. Changes nothing.
"""

from generation import gate
from generation.lifecycle import DISPATCHABLE, State
from generation.models import Asset

from .admission import admission_reasons
from .reason import Reason
from .record import DETAILS, REQUEUE, ending, failed, running

__all__ = ["DETAILS", "Reason", "explain"]


def explain(asset: Asset) -> list[Reason]:
    """Return every reason why the asset does not run, in the order in which it is asked; one if it runs, none if ready.

    The first that holds is the one the tick acts on; the others would hold after it.
    """
    if asset.state == State.GENERATING:
        return [running(asset)]
    if asset.state == State.READY:
        return []
    holding = gate.all_reasons(asset.pk)
    if gate.NO_ACTIVE_TASK in holding:
        # Without a task none can be blocked.
        holding.remove(gate.BLOCKED)
    reasons = [DETAILS[reason.partition(":")[0]](asset, reason) for reason in holding]
    if asset.state == State.FAILED:
        reasons.insert(0, failed(asset))
    if asset.state not in DISPATCHABLE:
        return reasons or [REQUEUE]
    if (still := ending(asset)) is not None:
        reasons.append(still)
    return [*reasons, *admission_reasons(asset, may_start=not reasons)]
