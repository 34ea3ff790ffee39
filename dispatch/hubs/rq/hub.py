"""The default hub: RQ queues on Redis, workers of ours on any number of machines."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import redis
from redis import Redis
from rq.command import send_stop_job_command
from rq.exceptions import DeserializationError, InvalidJobOperation, NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer

from dispatch.guards import forbid_open_transaction
from dispatch.hubs.base import (
    ClearReport,
    Envelope,
    HubUnavailable,
    JobRef,
    Life,
    LiveWorker,
    Receipt,
    SubmissionUnknown,
    Undelivered,
)

from . import keys, queues
from .registers import Registers, read_beats, read_registers

JOB_FUNCTION = "dispatch.worker.render"
# An undelivered result waits a day.
MAILBOX_TTL_S = 86_400


class RqHub:
    name = "rq"
    has_evidence = True

    def submit(self, envelope: Envelope) -> Receipt:
        forbid_open_transaction("The hub")
        ref = envelope.ref
        rq_id = keys.rq_job_id(ref.dispatch_id, ref.job_id)
        try:
            is_new = queues.enqueue_once(
                ref.stage,
                JOB_FUNCTION,
                (ref.dispatch_id, ref.job_id),
                rq_id,
                timeout_s=envelope.timeout_s,
                result_ttl_s=MAILBOX_TTL_S,
                description=ref.job_id,
            )
            return Receipt(duplicate=not is_new)
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
            registers = read_registers(queues.connection())
            left = {
                scope
                for rq_id, stage in registers.everywhere()
                for scope in scopes
                if _belongs(rq_id, scope, is_book=not wanted) and not _drop(rq_id, stage, registers)
            }
        except redis.RedisError:
            left = scopes
        return ClearReport(len(scopes), frozenset(scopes - left), frozenset(left))

    def workers(self) -> Sequence[LiveWorker]:
        forbid_open_transaction("The hub")
        try:
            return read_beats(queues.connection())
        except redis.RedisError as error:
            raise HubUnavailable(str(error)) from error

    def drain(self, names: Collection[str]) -> Collection[str]:
        """A worker reads that with its next beat, within 15 s; a supervisor's SIGTERM says the same at once."""
        alive = {worker.name for worker in self.workers()} & set(names)
        try:
            if alive:
                queues.connection().sadd(keys.DRAINING, *alive)
        except redis.RedisError as error:
            raise HubUnavailable(str(error)) from error
        return alive

    def evidence(self, refs: Sequence[JobRef]) -> Mapping[JobRef, Life]:
        forbid_open_transaction("The hub")
        if not refs:
            return {}
        try:
            registers = read_registers(queues.connection())
        except redis.RedisError:
            return dict.fromkeys(refs, Life.UNKNOWN)
        return {ref: registers.life(keys.rq_job_id(ref.dispatch_id, ref.job_id)) for ref in refs}

    def held(self) -> Collection[str]:
        forbid_open_transaction("The hub")
        try:
            registers = read_registers(queues.connection())
        except redis.RedisError as error:
            raise HubUnavailable(str(error)) from error
        return {rq_id.partition("-")[0] for rq_id in (*registers.queued, *registers.running)}

    def undelivered(self) -> Sequence[Undelivered]:
        """Return what finished jobs of ours return: a job whose result was accepted leaves nothing behind."""
        forbid_open_transaction("The hub")
        client = queues.connection()
        found = []
        try:
            for rq_id in read_registers(client).finished:
                letter = _letter(rq_id, client)
                if letter is not None:
                    found.append(letter)
        except redis.RedisError as error:
            raise HubUnavailable(str(error)) from error
        return found

    def acknowledge(self, ref: JobRef) -> None:
        forbid_open_transaction("The hub")
        try:
            queues.forget(keys.rq_job_id(ref.dispatch_id, ref.job_id), ref.stage)
        except redis.RedisError as error:
            raise HubUnavailable(str(error)) from error


def _letter(rq_id: str, client: Redis) -> Undelivered | None:
    """Return what the finished job returned; None for a job that is not ours or says nothing."""
    try:
        job = Job.fetch(rq_id, connection=client, serializer=JSONSerializer)
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
            send_stop_job_command(queues.connection(), rq_id, serializer=JSONSerializer)
        return False
    queues.forget(rq_id, stage)
    return True
