"""The frozen description of one job. What is not in it, a worker does not know."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from dispatch.config import config
from dispatch.models import Dispatch
from dispatch.rendering.registry import Unit
from generation.importing.languages import language_of
from generation.models import Asset
from generation.stages import StageName

PROTOCOL_VERSION = 2


def digest_of(body: Mapping[str, Any]) -> str:
    """Return the sha256 of the body; equal bodies have equal digests, whatever the order of their keys."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


# What differs between two hand-overs of the same work.
IDENTITY = ("protocol_version", "dispatch_id", "job_id", "build_id")


def fingerprint_of(body: Mapping[str, Any]) -> str:
    """Return the sha256 of what the unit is made from: equal for the same work in another dispatch.

    A part of a narration is heard the same whatever the book is called and however many parts follow it.
    """
    if body["stage"] == StageName.AUDIO:
        part = body["part"]
        heard = {key: body[key] for key in ("stage", "workflow", "language", "voice")}
        return digest_of({**heard, "text": part["text"], "is_last": part["number"] == part["of"]})
    return digest_of({key: value for key, value in body.items() if key not in IDENTITY})


def envelope_of(dispatch: Dispatch, asset: Asset, unit: Unit, job_id: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON body of the job that renders `unit`; `asset` comes with its scene, chapter and book.

    `inputs` are the files of other stages it is made from: {stage: {role: stored name}}. A part says what it is made
    from itself, so that a change in another part of the scene does not make it new.
    """
    scene, book = asset.scene, asset.book
    body = {
        "protocol_version": PROTOCOL_VERSION,
        "dispatch_id": dispatch.dispatch_id,
        "job_id": job_id,
        "build_id": str(dispatch.build_id),
        "stage": dispatch.stage,
        "unit": unit.name,
        "workflow": dispatch.workflow_version,
        "book": {"title": book.title, "author": book.author, "language": book.language},
        "chapter": {"number": scene.chapter.number, "title": scene.chapter.title},
        "scene": {"number": scene.number, "position": scene.position},
        **unit.body,
    }
    match StageName(dispatch.stage):
        case StageName.AUDIO:
            body["voice"] = {"name": scene.voice, "speed_percent": scene.speed_percent}
            body["language"] = language_of(scene.text, book.language)
        case StageName.IMAGE:
            body["scene"]["text"] = scene.text
        case StageName.VIDEO:
            body["scene"]["text"] = scene.text
            body |= {"inputs": inputs, "profile": config().video_profile}
    return body
