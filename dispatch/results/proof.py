"""Whether what an asset has published is really there. Asked outside of transactions: a storage may be far away."""

from generation import store
from generation.models import ArtifactFile, Asset


def has_proof(asset_pk: int) -> bool:
    """True when every file of the published artifact is in the storage; one that cannot be read is taken for absent."""
    published = Asset.objects.filter(pk=asset_pk, published__isnull=False).values("published")
    names = list(ArtifactFile.objects.filter(artifact__in=published).values_list("name", flat=True))
    try:
        return bool(names) and all(store.storage().exists(name) for name in names)
    except OSError:
        return False
