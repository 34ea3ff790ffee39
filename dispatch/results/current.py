"""Whether a dispatch still counts, read under the locks that keep it so."""

from dispatch.models import Dispatch
from generation import gate
from generation.models import Asset, Book

SUPERSEDED = "superseded"


def locked_active(dispatch_id: str) -> Dispatch | None:
    """Lock Book → Asset → Dispatch, in that order, and return the dispatch if it is active."""
    known = Dispatch.objects.filter(dispatch_id=dispatch_id).only("book_id", "asset_id").first()
    if known is None:
        return None
    if known.book_id is not None:
        Book.objects.lock([known.book_id])
    if known.asset_id is not None:
        Asset.objects.select_for_update(no_key=True).filter(pk=known.asset_id).first()
    locked = Dispatch.objects.select_for_update(of=("self",)).filter(
        dispatch_id=dispatch_id, status=Dispatch.Status.ACTIVE
    )
    return locked.select_related("asset__scene", "book").first()


def why_not_wanted(dispatch: Dispatch) -> str | None:
    """Return why a result of the dispatch may not count: its asset is gone, newer, or may not exist; else None."""
    if dispatch.asset is None:
        return gate.DELETED
    if dispatch.intent != dispatch.asset.intent:
        return SUPERSEDED
    return gate.why_not_exist(dispatch.asset.pk)
