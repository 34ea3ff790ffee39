"""The RQ worker and the job it runs: envelope in, file out."""

import json
import logging
import sys
from typing import Any

import rq
from django.db import connections
from rq import get_current_job, worker_registration
from rq.job import Job as RqJob
from rq.serializers import JSONSerializer

from dispatch.config import config
from dispatch.failures import Failure, InputGone, failure_of
from dispatch.hubs.rq import keys
from dispatch.processes import die_with_parent
from dispatch.rendering.registry import render_envelope, renderable_stages
from dispatch.rendering.tools import Tools
from dispatch.results import assemble as assembling
from dispatch.results.accept import Claimed, accept, accept_error, claim
from dispatch.results.parts import remove_files
from dispatch.results.progress import Reporter
from generation import store
from generation.store import StoredFile

logger = logging.getLogger(__name__)

MONITORING_INTERVAL_S = 10
# RQ waits 15 s less than this for a job, so an idle worker beats every 15 s.
WORKER_TTL_S = 30
MAINTENANCE_INTERVAL_S = 30


class Worker(rq.Worker):
    """RQ's forking worker with a beat that tells what it runs, JSON only, and horses that die with it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        # The command line passes RQ's defaults: a pickling serializer and a beat every 405 s.
        options.update(
            serializer=JSONSerializer,
            worker_ttl=WORKER_TTL_S,
            job_monitoring_interval=MONITORING_INTERVAL_S,
            maintenance_interval=MAINTENANCE_INTERVAL_S,
        )
        self._rendering: str | None = None
        super().__init__(*args, **options)

    def bootstrap(self, *args: Any, **options: Any) -> None:
        stage = keys.stage_of_queue(self.queue_names()[0])
        if stage is not None and stage not in renderable_stages():
            sys.exit(f"Nothing here renders {stage}: this version has no renderer for that stage.")
        store.verify_identity()
        connections.close_all()
        super().bootstrap(*args, **options)
        self.heartbeat()

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """Beat and register again: after an emptied Redis nobody else would list us."""
        ttl_s = int(config().worker_beat_ttl.total_seconds())
        super().heartbeat(ttl_s, pipeline)
        target: Any = self.connection if pipeline is None else pipeline
        worker_registration.register(self, target)
        target.hset(self.key, mapping=self.serialize())
        stage = keys.stage_of_queue(self.queue_names()[0])
        if stage is not None:
            target.sadd(keys.WORKERS, self.name)
            told = {"stage": stage, "job": self._rendering, "draining": self._is_draining()}
            target.set(keys.beat(self.name), json.dumps(told), ex=ttl_s)

    def _is_draining(self) -> bool:
        """True once a signal or an operator told it to finish; RQ's loop then takes no other job."""
        if not self._stop_requested and self.connection.sismember(keys.DRAINING, self.name):
            self.log.info("%s was told to finish and stop", self.name)
            self._stop_requested = True
        return bool(self._stop_requested)

    def register_death(self) -> None:
        self.connection.delete(keys.beat(self.name))
        self.connection.srem(keys.WORKERS, self.name)
        self.connection.srem(keys.DRAINING, self.name)
        super().register_death()

    def execute_job(self, job: RqJob, queue: rq.Queue) -> None:
        self._rendering = job.id
        self.heartbeat()
        try:
            super().execute_job(job, queue)
        finally:
            self._rendering = None

    def fork_work_horse(self, job: RqJob, queue: rq.Queue) -> None:
        connections.close_all()
        super().fork_work_horse(job, queue)

    def main_work_horse(self, job: RqJob, queue: rq.Queue) -> None:
        die_with_parent(self.pid)
        super().main_work_horse(job, queue)

    def handle_work_horse_killed(self, job: RqJob, retpid: int, ret_val: int, rusage: Any) -> None:
        """A killed horse runs no callback of its own; what it was rendering fails here."""
        super().handle_work_horse_killed(job, retpid, ret_val, rusage)
        if job.func_name != JOB_FUNCTION:
            return
        dispatch_id, job_id = job.args
        failure = Failure("worker_killed", f"The process that rendered it ended ({ret_val}).")
        try:
            accept_error(dispatch_id, job_id, "", failure)
        except Exception:
            # Evidence ends it later; the worker must go on.
            logger.exception("the death of the horse of %s was not recorded", job_id)
        finally:
            connections.close_all()


JOB_FUNCTION = "dispatch.worker.render"


def render(dispatch_id: str, job_id: str) -> dict[str, Any] | None:
    """Render one job and hand the result over.

    Returns None when it was accepted or refused: then RQ keeps nothing. When handing over fails, the returned result
    is the mailbox, kept for a day.
    """
    current = get_current_job()
    claimed = claim(dispatch_id, job_id, (current.worker_name if current else None) or "")
    if not isinstance(claimed, Claimed):
        logger.info("%s of dispatch %s is not wanted any more: %s", job_id, dispatch_id, claimed)
        _keep_nothing()
        return None
    letter: dict[str, Any] = {"dispatch_id": dispatch_id, "job_id": job_id, "stage": claimed.stage.value}
    letter["build_id"] = claimed.envelope["build_id"]
    failure: Failure | None = None
    files: dict[str, StoredFile] = {}
    try:
        files = _render_to_store(claimed, dispatch_id, job_id)
    except Exception as error:
        logger.exception("%s of dispatch %s failed", job_id, dispatch_id)
        failure = failure_of(error)
    return _hand_over(letter, files, failure)


def _render_to_store(claimed: Claimed, dispatch_id: str, job_id: str) -> dict[str, StoredFile]:
    """Render and store; what was stored before something went wrong is removed again."""
    unit = str(claimed.envelope["unit"])
    reporter = Reporter(dispatch_id, job_id)
    saved: dict[str, StoredFile] = {}
    try:
        for file in render_envelope(claimed.envelope, Tools(_read_input, reporter.tell)):
            where = (claimed.asset_pk, dispatch_id, unit, file.role)
            saved[file.role] = store.save(*where, file.content_type, file.content)
    except Exception:
        remove_files(file.name for file in saved.values())
        raise
    return saved


def _read_input(name: str) -> bytes:
    try:
        with store.open_file(name) as file:
            return file.read()
    except FileNotFoundError:
        raise InputGone(f"{name}, which it is made from, is not in the storage any more.") from None


def _hand_over(letter: dict[str, Any], files: dict[str, StoredFile], failure: Failure | None) -> dict[str, Any] | None:
    identity = (letter["dispatch_id"], letter["job_id"], letter["build_id"])
    try:
        answer = accept_error(*identity, failure) if failure else accept(*identity, files)
    except Exception:
        logger.exception("the result of %s waits in the mailbox", letter["job_id"])
        if failure:
            return {**letter, "error": {"reason": failure.reason, "message": failure.message}}
        return {**letter, "files": {role: file.as_json() for role, file in files.items()}}
    logger.info("%s of dispatch %s: %s", letter["job_id"], letter["dispatch_id"], answer.rejection or "accepted")
    _keep_nothing()
    return None


def assemble(dispatch_id: str) -> None:
    """Join the parts of a dispatch, once; the tick asks again for what a killed worker left."""
    logger.info("dispatch %s: %s", dispatch_id, assembling.assemble(dispatch_id))


def _keep_nothing() -> None:
    job = get_current_job()
    if job is not None:
        job.result_ttl = 0
