"""Named points of a tick. Tests crash or stop the process at each; nothing else listens."""

from enum import StrEnum

from django.dispatch import Signal


class Boundary(StrEnum):
    BEGIN = "begin"
    RENEWED = "renewed"
    STOPPED = "stopped"
    CLEARED = "cleared"
    ASSEMBLING = "assembling"
    SETTLED = "settled"
    MARKED_STALE = "marked_stale"
    SELECTED = "selected"
    ADMITTED = "admitted"
    BEFORE_PREPARE_COMMIT = "before_prepare_commit"
    AFTER_PREPARE_COMMIT = "after_prepare_commit"
    BEFORE_SUBMIT = "before_submit"
    AFTER_SUBMIT = "after_submit"
    BEFORE_RECORD_COMMIT = "before_record_commit"
    AFTER_RECORD_COMMIT = "after_record_commit"
    BEFORE_RELEASE = "before_release"


reached = Signal()


def reach(boundary: Boundary) -> None:
    reached.send(sender=None, boundary=boundary)
