"""What the files of one artifact are to each other. No rows."""

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

MAIN, CARD, SUBTITLES = "main", "card", "subtitles"
PICTURES = frozenset({"image/webp", "image/png", "image/jpeg"})
# What may come beside the main file.
OTHER_ROLES = {CARD: PICTURES, SUBTITLES: frozenset({"text/vtt"})}
# The second and further pictures of a scene.
PICTURE = re.compile(r"picture-(\d{1,3})")
File = TypeVar("File")


def picture_roles(roles: Iterable[str]) -> list[str]:
    """Return the roles of a scene's pictures among `roles`, in order: `main` is the first."""
    numbered = {int(match.group(1)): role for role in roles if (match := PICTURE.fullmatch(role))}
    return [MAIN, *(numbered[number] for number in sorted(numbered))]


def pictures_of(files: Mapping[str, File]) -> list[File]:
    """Return the pictures among the files of a scene's artifact, by role, in order."""
    return [files[role] for role in picture_roles(files)]
