from collections.abc import Callable, Mapping

from django.core.exceptions import ImproperlyConfigured

from .base import Hub
from .rq.hub import RqHub

HUBS: Mapping[str, Callable[[], Hub]] = {"rq": RqHub}


def hub_named(name: str) -> Hub:
    """Return the adapter called `name`; raises ImproperlyConfigured, which lists the known ones."""
    if name not in HUBS:
        raise ImproperlyConfigured(f"There is no hub {name!r}. Hubs are {', '.join(HUBS)}.")
    return HUBS[name]()
