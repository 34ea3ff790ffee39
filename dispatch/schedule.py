"""RQ entry points and periodic registrations: `manage.py rqcron dispatch.schedule` enqueues the tick every 5 s."""

from rq import cron

from dispatch.config import config
from dispatch.reconcile import reconcile_if_due
from dispatch.ring import QUEUE, TICK_TIMEOUT_S
from dispatch.tick import run_tick


def tick() -> None:
    """Run one tick, and look the record through when that is due. A second one at the same time does nothing."""
    run_tick()
    reconcile_if_due()


# ttl: ticks missed while no worker was there are not made up for.
cron.register(
    tick,
    queue_name=QUEUE,
    interval=round(config().tick_interval.total_seconds()),
    ttl=4,
    job_timeout=TICK_TIMEOUT_S,
    result_ttl=30,
    failure_ttl=3600,
    name="tick",
)
