from . import records, scenes

__all__ = ["records", "scenes"]
