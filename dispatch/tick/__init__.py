from .run import run_tick

__all__ = ["run_tick"]
