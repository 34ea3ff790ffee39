"""The ring: ask for a tick now instead of at the next interval. Losing one costs one interval, nothing else."""

import logging
from functools import lru_cache
from typing import Any

import django_rq
import redis
from django.db import DatabaseError
from django.db.models.functions import Now
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer

from dispatch.guards import forbid_open_transaction
from dispatch.models import TickRing
from generation.signals import commanded

logger = logging.getLogger(__name__)

TICK_FUNCTION = "dispatch.schedule.tick"
QUEUE = "tick"
RING_JOB = "tick-ring"
# One waiting ring is enough; it is gone before the next interval comes anyway.
RING_TTL_S = 5
TICK_TIMEOUT_S = 600


def ring() -> None:
    """Note that there is something to do, and wake a tick worker. Never raises."""
    try:
        if not TickRing.objects.filter(id=1).update(rung_at=Now()):
            TickRing.objects.get_or_create(id=1, defaults={"rung_at": Now()})
    except DatabaseError:
        logger.exception("the ring was not noted")
        return
    forbid_open_transaction("The ring")
    try:
        queue = _queue()
        # An expired ring leaves its id in the list; without a tick worker those would pile up.
        if not queue.connection.exists(f"rq:job:{RING_JOB}"):
            queue.connection.lrem(queue.key, 0, RING_JOB)
        queue.enqueue_call(
            TICK_FUNCTION,
            job_id=RING_JOB,
            unique=True,
            timeout=TICK_TIMEOUT_S,
            ttl=RING_TTL_S,
            result_ttl=0,
            failure_ttl=0,
        )
    except DuplicateJobError:
        return
    except redis.RedisError as error:
        logger.warning("no tick worker was woken: %s", error)


def listen() -> None:
    commanded.connect(_on_commanded, dispatch_uid="dispatch.ring")


def _on_commanded(**_: Any) -> None:
    ring()


@lru_cache(maxsize=1)
def _queue() -> Queue:
    connection = django_rq.get_connection(QUEUE)
    connection.connection_pool.connection_kwargs.update(retry=Retry(NoBackoff(), 0), socket_timeout=2)
    queue: Queue = django_rq.get_queue(QUEUE, connection=connection, serializer=JSONSerializer)
    return queue
