"""What a renderer gets and gives, besides its envelope."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class RenderedFile:
    """One file a renderer made, in memory; `role` main is what the stage is about."""

    role: str
    content_type: str
    content: bytes


@dataclass(frozen=True)
class Tools:
    """`read` returns the content of an input by its stored name; `progress` takes the share that is done, 0 to 1."""

    read: Callable[[str], bytes]
    progress: Callable[[float], None]
