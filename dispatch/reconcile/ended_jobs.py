"""Jobs in the hub's queues whose dispatch ended: of finished, cancelled or deleted work."""

from collections.abc import Iterable, Sequence

from dispatch.hubs.base import HubUnavailable
from dispatch.models import Dispatch, Job

from .base import CannotRead, Found, Scope

PREFIX = "dispatch "


class EndedJobs:
    kind = "job_of_ended_dispatch"
    words = "The hub still holds a job of work that ended."
    fix_words = "The hub is told to drop it, by its own dispatch id."

    def find(self, scope: Scope) -> Iterable[Found]:
        held = _held(scope)
        ended = Dispatch.objects.filter(dispatch_id__in=held).exclude(status=Dispatch.Status.ACTIVE)
        # What is stopping is cleared by the tick already; of what was never ours we know nothing.
        ended = ended.exclude(jobs__status=Job.Status.STOPPING)
        if scope.book_pk is not None:
            ended = ended.filter(book_pk=scope.book_pk)
        for dispatch_id, book_pk, status in ended.values_list("dispatch_id", "book_pk", "status").distinct():
            yield Found(f"{PREFIX}{dispatch_id}", f"{status}, and still at the hub", book_pk)

    def fix(self, scope: Scope, found: Sequence[Found]) -> int:
        return len(scope.hub.clear({one.subject.removeprefix(PREFIX) for one in found}).cleared)

    def still(self, scope: Scope, subjects: Sequence[str]) -> set[str]:
        return {f"{PREFIX}{dispatch_id}" for dispatch_id in _held(scope)} & set(subjects)


def _held(scope: Scope) -> set[str]:
    try:
        return set(scope.hub.held())
    except HubUnavailable as error:
        raise CannotRead(str(error)) from error
