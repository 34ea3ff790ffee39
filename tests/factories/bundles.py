"""Bundles: book.json and a file per chapter."""

import json
from typing import Any

from tests.factories.epubs import archive

TEXT = "The ship sailed on through the long grey morning, and nobody spoke."


def scene(key: str, text: str = TEXT, **fields: Any) -> dict[str, Any]:
    return {"id": key, "text": text, **fields}


def chapter(key: str, *scenes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": key, "title": f"Chapter {key}", "scenes": list(scenes), **fields}


def files_of_bundle(*chapters: dict[str, Any], **book: Any) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {"book.json": json.dumps({"title": "The Whale", "language": "en", **book})}
    for number, content in enumerate(chapters, start=1):
        files[f"chapters/{number}.json"] = json.dumps(content)
    return files


def bundle(*chapters: dict[str, Any], **book: Any) -> bytes:
    return archive(files_of_bundle(*chapters, **book))
