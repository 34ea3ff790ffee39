"""Which renderer draws a stage. Nothing heavy is imported before something is rendered."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.module_loading import import_string

from generation.stages import StageName


@dataclass(frozen=True)
class RenderedFile:
    """One file a renderer made, in memory; `role` main is what the stage is about."""

    role: str
    content_type: str
    content: bytes


@dataclass(frozen=True)
class Renderer:
    """`function` takes an envelope body and returns RenderedFiles; `version` changes when its output does."""

    function: str
    version: str


RENDERERS: Mapping[StageName, Renderer] = {
    StageName.IMAGE: Renderer("dispatch.rendering.illustration.render", "illustration-1"),
}


def render_envelope(envelope: Mapping[str, Any]) -> list[RenderedFile]:
    """Render the envelope of one job. Raises RenderError; anything else it raises counts as transient."""
    renderer = RENDERERS[StageName(envelope["stage"])]
    files: list[RenderedFile] = import_string(renderer.function)(envelope)
    return files


def renderable_stages() -> list[StageName]:
    return list(RENDERERS)


def workflow_version(stage: StageName) -> str:
    """Return what a dispatch notes about how its stage is made; empty for a stage that only other hubs render."""
    renderer = RENDERERS.get(stage)
    return renderer.version if renderer else ""


def units_of(stage: StageName, scene_pk: int) -> tuple[str, ...]:
    """Return the units a stage of a scene is made of, in order."""
    match stage:
        case StageName.AUDIO:
            return ("0001",)
        case StageName.IMAGE:
            return (f"iu-{scene_pk}",)
        case StageName.VIDEO:
            return ("g1",)
