"""Everything the record holds, to compare before and after."""

from typing import Any

from django.apps import apps


def snapshot() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every model of ours."""
    models = [model for app in ("generation", "dispatch") for model in apps.get_app_config(app).get_models()]
    return {model.__name__: list(model._base_manager.order_by("pk").values()) for model in models}
