"""What the record may not do while the hub works."""

from typing import Any

from dispatch.models import Dispatch
from generation.exceptions import Conflict
from generation.models import Asset
from generation.signals import before_restore


def listen() -> None:
    before_restore.connect(_refuse_in_flight, dispatch_uid="dispatch.vetoes")


def _refuse_in_flight(*, asset: Asset, **_: Any) -> None:
    if asset.dispatches.filter(status=Dispatch.Status.ACTIVE).exists():
        raise Conflict("This was stopped a moment ago and the hub does not know it yet. Try again in a few seconds.")
