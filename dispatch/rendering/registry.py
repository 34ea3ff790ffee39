"""Which renderer makes a stage, and in which units. Nothing heavy is imported before something is rendered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.module_loading import import_string

from generation.stages import StageName

from .narration.speech import parts_of
from .tools import RenderedFile, Tools


@dataclass(frozen=True)
class Renderer:
    """`function` takes an envelope body and Tools and returns RenderedFiles; `version` changes when its output does.

    `assembler` joins the files of several parts; without one a stage is made in one piece.
    """

    function: str
    version: str
    assembler: str = ""


RENDERERS: Mapping[StageName, Renderer] = {
    StageName.AUDIO: Renderer(
        "dispatch.rendering.narration.render", "narration-1", assembler="dispatch.rendering.narration.assemble"
    ),
    StageName.IMAGE: Renderer(
        "dispatch.rendering.illustration.render", "illustration-1", assembler="dispatch.rendering.illustration.assemble"
    ),
    StageName.VIDEO: Renderer("dispatch.rendering.video.render", "video-1"),
}


NO_PROMPTS: Mapping[int, str] = {}


@dataclass(frozen=True)
class Unit:
    """One unit a stage of a scene is made of: its name, and what its envelope says besides what all units share."""

    name: str
    body: Mapping[str, Any]


def render_envelope(envelope: Mapping[str, Any], tools: Tools) -> list[RenderedFile]:
    """Render the envelope of one job. Raises RenderError; anything else it raises counts as transient."""
    renderer = RENDERERS[StageName(envelope["stage"])]
    files: list[RenderedFile] = import_string(renderer.function)(envelope, tools)
    return files


def assemble(stage: StageName, parts: Sequence[Mapping[str, bytes]]) -> list[RenderedFile]:
    """Join the parts of a stage, each its content by role, in the order given. Raises like a renderer."""
    files: list[RenderedFile] = import_string(RENDERERS[stage].assembler)(parts)
    return files


def renderable_stages() -> list[StageName]:
    return list(RENDERERS)


def workflow_version(stage: StageName) -> str:
    """Return what a dispatch notes about how its stage is made; empty for a stage that only other hubs render."""
    renderer = RENDERERS.get(stage)
    return renderer.version if renderer else ""


def units_of(stage: StageName, scene_pk: int, text: str, prompts: Mapping[int, str] = NO_PROMPTS) -> list[Unit]:
    """Return the units a stage of a scene with this text is made of, in order.

    `prompts` are the pictures that the scene asks for, by key of the row, in order.
    """
    match stage:
        case StageName.AUDIO:
            parts = parts_of(text)
            return [
                Unit(f"{number:04}", {"part": {"number": number, "of": len(parts), "text": part}})
                for number, part in enumerate(parts, start=1)
            ]
        case StageName.IMAGE:
            return [
                Unit(f"iu-{pk}", {"picture": {"number": number, "prompt": prompt}})
                for number, (pk, prompt) in enumerate(prompts.items(), start=1)
            ] or [Unit(f"iu-{scene_pk}", {})]
        case StageName.VIDEO:
            return [Unit("g1", {})]
