"""After the nine steps, once a minute: forget what is older than its retention."""

from django.db.models import Q
from django.db.models.functions import Now

from dispatch import retention
from dispatch.config import config
from dispatch.models import TickLease

from .context import Run


def prune(run: Run) -> None:
    due = Q(pruned_at__isnull=True) | Q(pruned_at__lte=Now() - config().prune_interval)
    if TickLease.objects.filter(due, id=1, fence=run.lease.number).update(pruned_at=Now()):
        with run.lease.transaction():
            retention.prune()
