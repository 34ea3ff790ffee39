from dispatch.capacity import keys
from dispatch.capacity.scripts import client


def leases(stage: str) -> dict[int, str]:
    """Return {asset: dispatch_id} of the leases held, and fail when the two keys disagree."""
    owners = client().hgetall(keys.owners(stage))
    assert set(client().zrange(keys.active(stage), 0, -1)) == set(owners)
    return {int(asset): owner.partition(":")[0] for asset, owner in owners.items()}
