"""The default hub: RQ queues on Redis, workers of ours on any number of machines."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import cast

import django_rq
import redis
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import Queue
from rq.command import send_stop_job_command
from rq.exceptions import DeserializationError, DuplicateJobError, InvalidJobOperation, NoSuchJobError
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer

from dispatch.guards import forbid_open_transaction
from dispatch.hubs.base import (
    ClearReport,
    Envelope,
    HubUnavailable,
    JobRef,
    Life,
    Receipt,
    SubmissionUnknown,
    Undelivered,
)
from generation.stages import StageName

from . import keys
from .registers import Registers, read_beats, read_registers

JOB_FUNCTION = "dispatch.worker.render"
# An undelivered result waits a day; a failed job only explains itself in the dashboard.
MAILBOX_TTL_S = 86_400
FAILURE_TTL_S = 3_600
# In these states RQ will not run the job again, so its hash is no receipt.
OVER = {JobStatus.FAILED, JobStatus.STOPPED, JobStatus.CANCELED}


class RqHub:
    name = "rq"
    has_evidence = True

    def submit(self, envelope: Envelope) -> Receipt:
        forbid_open_transaction("The hub")
        ref = envelope.ref
        rq_id = keys.rq_job_id(ref.dispatch_id, ref.job_id)
        queue = _queue(ref.stage)
        try:
            return self._enqueue(queue, rq_id, envelope)
        except redis.TimeoutError as error:
            raise SubmissionUnknown(str(error)) from error
        except redis.RedisError as error:
            raise HubUnavailable(str(error)) from error

    def clear(self, dispatch_ids: Collection[str], book: str | None = None) -> ClearReport:
        forbid_open_transaction("The hub")
        wanted = {dispatch_id for dispatch_id in dispatch_ids if dispatch_id}
        scopes = wanted or ({book} if book else set())
        if not scopes:
            return ClearReport()
        try:
            registers = read_registers(_connection())
            left = {
                scope
                for rq_id, stage in registers.everywhere()
                for scope in scopes
                if _belongs(rq_id, scope, is_book=not wanted) and not _drop(rq_id, stage, registers)
            }
        except redis.RedisError:
            left = scopes
        return ClearReport(len(scopes), frozenset(scopes - left), frozenset(left))

    def workers(self) -> Mapping[str, int]:
        forbid_open_transaction("The hub")
        try:
            counted = Counter(beat.stage for beat in read_beats(_connection()))
        except redis.RedisError as error:
            raise HubUnavailable(str(error)) from error
        return {stage: counted[stage] for stage in StageName.values}

    def evidence(self, refs: Sequence[JobRef]) -> Mapping[JobRef, Life]:
        forbid_open_transaction("The hub")
        if not refs:
            return {}
        try:
            registers = read_registers(_connection())
        except redis.RedisError:
            return dict.fromkeys(refs, Life.UNKNOWN)
        return {ref: registers.life(keys.rq_job_id(ref.dispatch_id, ref.job_id)) for ref in refs}

    def undelivered(self) -> Sequence[Undelivered]:
        """Return what finished jobs of ours return: a job whose result was accepted leaves nothing behind."""
        forbid_open_transaction("The hub")
        connection = _connection()
        found = []
        try:
            for rq_id in read_registers(connection).finished:
                letter = _letter(rq_id, connection)
                if letter is not None:
                    found.append(letter)
        except redis.RedisError as error:
            raise HubUnavailable(str(error)) from error
        return found

    def acknowledge(self, ref: JobRef) -> None:
        forbid_open_transaction("The hub")
        try:
            _forget(keys.rq_job_id(ref.dispatch_id, ref.job_id), ref.stage)
        except redis.RedisError as error:
            raise HubUnavailable(str(error)) from error

    def _enqueue(self, queue: Queue, rq_id: str, envelope: Envelope) -> Receipt:
        ref = envelope.ref
        for _ in range(2):
            try:
                queue.enqueue_call(
                    JOB_FUNCTION,
                    args=(ref.dispatch_id, ref.job_id),
                    job_id=rq_id,
                    unique=True,
                    timeout=envelope.timeout_s,
                    result_ttl=MAILBOX_TTL_S,
                    failure_ttl=FAILURE_TTL_S,
                    description=ref.job_id,
                )
                return Receipt()
            except DuplicateJobError:
                if not self._is_over(rq_id, ref.stage):
                    return Receipt(duplicate=True)
                _forget(rq_id, ref.stage)
        raise HubUnavailable(f"another process keeps submitting {rq_id}")

    def _is_over(self, rq_id: str, stage: str) -> bool:
        """True when RQ has a hash for the job but will not run it: failed, stopped, or in no register at all."""
        try:
            status = Job.fetch(rq_id, connection=_connection(), serializer=JSONSerializer).get_status(refresh=False)
        except NoSuchJobError:
            return True
        return status in OVER or read_registers(_connection()).life(rq_id) == Life.ABSENT


def _queue(stage: str) -> Queue:
    queue: Queue = django_rq.get_queue(keys.queue_name(stage), connection=_connection())
    return queue


@lru_cache(maxsize=1)
def _connection() -> Redis:
    """Return a client that tries once and answers within 5 s: its callers come again or have somebody waiting.

    One for the process: RQ keeps a script per client for ever.
    """
    connection: Redis = django_rq.get_connection(keys.queue_name(StageName.IMAGE))
    connection.connection_pool.connection_kwargs.update(retry=Retry(NoBackoff(), 0), socket_timeout=5)
    return connection


def _letter(rq_id: str, connection: Redis) -> Undelivered | None:
    """Return what the finished job returned; None for a job that is not ours or says nothing."""
    try:
        job = Job.fetch(rq_id, connection=connection, serializer=JSONSerializer)
        payload = job.return_value() if job.func_name == JOB_FUNCTION else None
        if not isinstance(payload, dict):
            return None
        return Undelivered(JobRef(payload["dispatch_id"], payload["job_id"], payload["stage"]), payload)
    except (NoSuchJobError, DeserializationError, KeyError, ValueError):
        return None


def _belongs(rq_id: str, scope: str, *, is_book: bool) -> bool:
    dispatch_id, _, job_id = rq_id.partition("-")
    return job_id.startswith(f"{scope}_") if is_book else dispatch_id == scope


def _drop(rq_id: str, stage: str, registers: Registers) -> bool:
    """Take one job out of the hub; False while a worker still runs it (it was told to stop)."""
    if registers.life(rq_id) == Life.RUNNING:
        with suppress(InvalidJobOperation, NoSuchJobError):
            send_stop_job_command(_connection(), rq_id, serializer=JSONSerializer)
        return False
    _forget(rq_id, stage)
    return True


def _forget(rq_id: str, stage: str) -> None:
    """Remove every trace. RQ's own delete() fails for a while on jobs whose worker died."""
    connection = _connection()
    started = cast(list[bytes], connection.zrange(keys.started(stage), 0, -1))
    running = [entry for entry in started if keys.rq_id_of(entry) == rq_id]
    pipeline = connection.pipeline()
    if running:
        pipeline.zrem(keys.started(stage), *running)
    pipeline.lrem(keys.queue(stage), 0, rq_id)
    pipeline.lrem(keys.intermediate(stage), 0, rq_id)
    for register in (keys.finished(stage), keys.failed(stage)):
        pipeline.zrem(register, rq_id)
    pipeline.delete(keys.executions(rq_id), keys.results(rq_id), keys.job(rq_id))
    pipeline.execute()
