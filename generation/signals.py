"""`commanded` rings the tick after a command has committed. It only saves time: a lost one costs one tick interval."""

from functools import partial

from django.db import transaction
from django.dispatch import Signal

commanded = Signal()


def ring_after_commit() -> None:
    transaction.on_commit(partial(commanded.send_robust, sender=None), robust=True)
