"""Putting a job on an RQ queue once, and taking every trace of it away."""

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

import django_rq
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import Queue
from rq.exceptions import DuplicateJobError, NoSuchJobError
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer

from dispatch.hubs.base import HubUnavailable, Life

from . import keys
from .registers import read_registers

# A failed job only explains itself in the dashboard.
FAILURE_TTL_S = 3_600
# In these states RQ will not run the job again, so its hash says nothing.
OVER = {JobStatus.FAILED, JobStatus.STOPPED, JobStatus.CANCELED}


@lru_cache(maxsize=1)
def connection() -> Redis:
    """Return a client that tries once and answers within 5 s: its callers come again or have somebody waiting.

    One for the process: RQ keeps a script per client for ever.
    """
    made: Redis = django_rq.get_connection(keys.queue_name(keys.ASSEMBLY))
    made.connection_pool.connection_kwargs.update(retry=Retry(NoBackoff(), 0), socket_timeout=5)
    return made


def enqueue_once(
    stage: str, function: str, args: Sequence[str], rq_id: str, *, timeout_s: int, result_ttl_s: int, description: str
) -> bool:
    """Put the job on the stage's queue; False if it is queued or running already.

    Raises redis.RedisError, and HubUnavailable when another process does the same at this moment.
    """
    queue: Queue = django_rq.get_queue(keys.queue_name(stage), connection=connection())
    for _ in range(2):
        try:
            queue.enqueue_call(
                function,
                args=tuple(args),
                job_id=rq_id,
                unique=True,
                timeout=timeout_s,
                result_ttl=result_ttl_s,
                failure_ttl=FAILURE_TTL_S,
                description=description,
            )
            return True
        except DuplicateJobError:
            if not _is_over(rq_id, stage):
                return False
            forget(rq_id, stage)
    raise HubUnavailable(f"another process keeps submitting {rq_id}")


def forget(rq_id: str, stage: str) -> None:
    """Remove every trace. RQ's own delete() fails for a while on jobs whose worker died."""
    redis = connection()
    started = cast(list[bytes], redis.zrange(keys.started(stage), 0, -1))
    running = [entry for entry in started if keys.rq_id_of(entry) == rq_id]
    pipeline = redis.pipeline()
    if running:
        pipeline.zrem(keys.started(stage), *running)
    pipeline.lrem(keys.queue(stage), 0, rq_id)
    pipeline.lrem(keys.intermediate(stage), 0, rq_id)
    for register in (keys.finished(stage), keys.failed(stage)):
        pipeline.zrem(register, rq_id)
    pipeline.delete(keys.executions(rq_id), keys.results(rq_id), keys.job(rq_id))
    pipeline.execute()


def _is_over(rq_id: str, stage: str) -> bool:
    """True when RQ has a hash for the job but will not run it: failed, stopped, or in no register at all."""
    try:
        status = Job.fetch(rq_id, connection=connection(), serializer=JSONSerializer).get_status(refresh=False)
    except NoSuchJobError:
        return True
    return status in OVER or read_registers(connection(), [stage]).life(rq_id) == Life.ABSENT
