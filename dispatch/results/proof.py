"""Whether what an asset has published is really there."""

from generation import store
from generation.models import Asset


def has_proof(asset_pk: int) -> bool:
    """True when every file of the published artifact is in the storage."""
    published = Asset.objects.filter(pk=asset_pk).values_list("published", flat=True).first()
    return published is not None and store.is_complete(published)
