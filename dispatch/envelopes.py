"""The frozen description of one job. What is not in it, a worker does not know."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from dispatch.models import Dispatch
from generation.models import Asset

PROTOCOL_VERSION = 2


def digest_of(body: Mapping[str, Any]) -> str:
    """Return the sha256 of the body; equal bodies have equal digests, whatever the order of their keys."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def envelope_of(dispatch: Dispatch, asset: Asset, unit: str, job_id: str) -> dict[str, Any]:
    """Return the JSON body of the job that renders `unit`; `asset` comes with its scene, chapter and book."""
    scene, book = asset.scene, asset.book
    return {
        "protocol_version": PROTOCOL_VERSION,
        "dispatch_id": dispatch.dispatch_id,
        "job_id": job_id,
        "build_id": str(dispatch.build_id),
        "stage": dispatch.stage,
        "unit": unit,
        "book": {"title": book.title, "author": book.author, "language": book.language},
        "chapter": {"number": scene.chapter.number, "title": scene.chapter.title},
        "voice": {"name": scene.voice, "speed_percent": scene.speed_percent},
        "scene": {"number": scene.number, "position": scene.position, "text": scene.text},
    }
