"""The queue on which parts are joined. It is RQ's whatever hub renders them."""

import redis

from dispatch.guards import forbid_open_transaction
from dispatch.hubs.base import HubUnavailable, Life

from . import keys
from .queues import connection, enqueue_once
from .registers import read_registers

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


def life(dispatch_id: str) -> Life:
    """Say how the joining of a dispatch lives; unknown when the queue cannot be asked."""
    forbid_open_transaction("The queue")
    try:
        return read_registers(connection(), [keys.ASSEMBLY]).life(f"assemble-{dispatch_id}")
    except redis.RedisError:
        return Life.UNKNOWN
