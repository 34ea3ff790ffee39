"""What the record tells those who build on it.

`commanded` rings the tick after a command has committed. It only saves time: a lost one costs one tick interval.
`before_restore` is sent with `asset` under the Book lock; a receiver that raises a GenerationError refuses.
"""

from functools import partial

from django.db import transaction
from django.dispatch import Signal

commanded = Signal()
before_restore = Signal()


def ring_after_commit() -> None:
    transaction.on_commit(partial(commanded.send_robust, sender=None), robust=True)
