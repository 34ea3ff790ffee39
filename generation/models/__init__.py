from .artifacts import Artifact, ArtifactFile, StoreIdentity
from .assets import Asset
from .books import Book, Chapter, ImageUnit, Scene
from .commands import Command
from .findings import Finding
from .force_sets import ForceSet
from .journal import JournalEntry
from .layers import LayerConfig, StageConfig, SystemConfig
from .tasks import Target, Task

__all__ = [
    "Artifact",
    "ArtifactFile",
    "Asset",
    "Book",
    "Chapter",
    "Command",
    "Finding",
    "ForceSet",
    "ImageUnit",
    "JournalEntry",
    "LayerConfig",
    "Scene",
    "StageConfig",
    "StoreIdentity",
    "SystemConfig",
    "Target",
    "Task",
]
