"""Results that a worker rendered and could not hand over."""

from collections.abc import Iterable, Sequence

from dispatch.hubs.base import HubUnavailable, Undelivered
from dispatch.models import Dispatch
from dispatch.results import mailbox

from .base import CannotRead, Found, Scope


class UndeliveredResults:
    kind = "result_not_delivered"
    words = "A finished result waits at the hub."
    fix_words = "It is accepted, once."

    def find(self, scope: Scope) -> Iterable[Found]:
        waiting = [letter.ref for letter in _waiting(scope)]
        books = dict(
            Dispatch.objects.filter(dispatch_id__in=[ref.dispatch_id for ref in waiting]).values_list(
                "dispatch_id", "book_pk"
            )
        )
        for ref in waiting:
            book_pk = books.get(ref.dispatch_id)
            if scope.book_pk in (None, book_pk):
                yield Found(f"job {ref.dispatch_id} {ref.job_id}", "rendered, not handed over", book_pk)

    def fix(self, scope: Scope, found: Sequence[Found]) -> int:
        try:
            mailbox.collect(scope.hub)
        except HubUnavailable as error:
            raise CannotRead(str(error)) from error
        return len(found) - len(self.still(scope, [one.subject for one in found]))

    def still(self, scope: Scope, subjects: Sequence[str]) -> set[str]:
        waiting = {f"job {letter.ref.dispatch_id} {letter.ref.job_id}" for letter in _waiting(scope)}
        return waiting & set(subjects)


def _waiting(scope: Scope) -> Sequence[Undelivered]:
    try:
        return scope.hub.undelivered()
    except HubUnavailable as error:
        raise CannotRead(str(error)) from error
