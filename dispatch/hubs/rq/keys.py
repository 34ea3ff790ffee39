"""Names in Redis that the RQ hub reads, and how our ids become RQ's."""

from generation.stages import StageName

RQ = "rq"
# Set of the names of workers that ever beat; a member without a beat is dead.
WORKERS = "{animastor}:rq:workers"
# Set of the names of workers that were told to finish what they do and stop.
DRAINING = "{animastor}:rq:draining"


# Where parts are joined: a queue of its own, named in place of a stage.
ASSEMBLY = "assembly"


def queue_name(stage: str) -> str:
    return stage if stage == ASSEMBLY else f"gpu-{stage}"


def stage_of_queue(queue: str) -> str | None:
    """Return the stage a queue serves, None for the queues of the tick and of assembly."""
    stage = queue.removeprefix("gpu-")
    return stage if queue.startswith("gpu-") and stage in StageName.values else None


def rq_job_id(dispatch_id: str, job_id: str) -> str:
    """RQ ids hold only [A-Za-z0-9_-]; the one colon of a job id becomes a hyphen."""
    return f"{dispatch_id}-{job_id.replace(':', '-')}"


def rq_id_of(entry: bytes) -> str:
    """Return the job of an entry of the started register, which RQ 3 writes as "job id:execution id"."""
    return entry.decode().split(":")[0]


def beat(worker: str) -> str:
    """String with a TTL: JSON {"stage", "job", "draining"} of a live worker; `job` is the RQ id it runs, else null."""
    return f"{{animastor}}:rq:beat:{worker}"


def job(rq_id: str) -> str:
    return f"{RQ}:job:{rq_id}"


def executions(rq_id: str) -> str:
    return f"{RQ}:executions:{rq_id}"


def results(rq_id: str) -> str:
    return f"{RQ}:results:{rq_id}"


def queue(stage: str) -> str:
    return f"{RQ}:queue:{queue_name(stage)}"


def intermediate(stage: str) -> str:
    """List of jobs between being popped and being started."""
    return f"{queue(stage)}:intermediate"


def started(stage: str) -> str:
    return f"{RQ}:wip:{queue_name(stage)}"


def finished(stage: str) -> str:
    return f"{RQ}:finished:{queue_name(stage)}"


def failed(stage: str) -> str:
    return f"{RQ}:failed:{queue_name(stage)}"
