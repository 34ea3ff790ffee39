"""django-rq's command, with the one thing it lacks: RQ's cron builds its queues without a serializer, and pickles."""

from typing import Any

from django_rq.management.commands import rqcron as stock
from rq import Queue, cron
from rq.serializers import JSONSerializer


class JsonQueue(Queue):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "serializer": JSONSerializer})


class Command(stock.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        # The name that CronJob.enqueue looks up; this process runs nothing else.
        cron.Queue = JsonQueue  # type: ignore[attr-defined]
        super().handle(*args, **options)
