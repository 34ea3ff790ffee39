"""The queue on which parts are joined. It is RQ's whatever hub renders them."""

import redis

from dispatch.guards import forbid_open_transaction
from dispatch.hubs.base import HubUnavailable

from . import keys
from .queues import enqueue_once

JOB_FUNCTION = "dispatch.worker.assemble"
# Joining an hour of sound takes a minute.
TIMEOUT_S = 1_800


def ensure_queued(dispatch_id: str) -> bool:
    """Ask for the parts of a dispatch to be joined; False if that is queued or running. Raises HubUnavailable."""
    forbid_open_transaction("The queue")
    try:
        return enqueue_once(
            keys.ASSEMBLY,
            JOB_FUNCTION,
            (dispatch_id,),
            f"assemble-{dispatch_id}",
            timeout_s=TIMEOUT_S,
            result_ttl_s=0,
            description=f"parts of {dispatch_id}",
        )
    except redis.RedisError as error:
        raise HubUnavailable(str(error)) from error
