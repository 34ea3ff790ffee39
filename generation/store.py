"""Artifact files: names that are never reused, on any Django storage, validated by content before they count."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import IO, Any

from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

from . import media, roles
from .exceptions import BadMedia, StoreMismatch
from .models import Artifact, ArtifactFile, StoreIdentity
from .stages import Stage

IDENTITY_FILE = "store-identity"
# What `save` calls the file of a result: asset, dispatch, unit.
RESULT_NAME = re.compile(r"\d+/[0-9a-f]{32}-[^/]+")
# Shorter is a broken encoder's output, whatever the format.
SMALLEST_FILE_BYTES = 100
EXTENSIONS = {
    "image/webp": "webp",
    "image/png": "png",
    "image/jpeg": "jpg",
    "audio/mpeg": "mp3",
    "audio/flac": "flac",
    "video/mp4": "mp4",
    "text/vtt": "vtt",
}


@dataclass(frozen=True)
class StoredFile:
    """A file in the storage that no row owns yet."""

    role: str
    name: str
    content_type: str
    size: int
    sha256: str
    width: int | None = None
    height: int | None = None
    duration_ms: int | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "StoredFile":
        """Raises TypeError for what is no such description."""
        file = cls(**data)
        if not all(isinstance(text, str) for text in (file.role, file.name, file.content_type, file.sha256)):
            raise TypeError(f"{data!r} describes no stored file")
        return file


def storage() -> Storage:
    return storages["artifacts"]


def save(asset_pk: int, dispatch_id: str, unit: str, role: str, content_type: str, content: bytes) -> StoredFile:
    """Write `content` under a name of its own and return it. A second writer of the same unit gets another name."""
    suffix = "" if role == ArtifactFile.MAIN else f"-{role}"
    name = f"{asset_pk}/{dispatch_id}-{unit}{suffix}.{EXTENSIONS[content_type]}"
    written = storage().save(name, ContentFile(content))
    measures = asdict(media.measure(content_type, content))
    return StoredFile(role, written, content_type, len(content), hashlib.sha256(content).hexdigest(), **measures)


def open_file(name: str) -> IO[bytes]:
    """Open a stored file for reading; raises FileNotFoundError."""
    return storage().open(name, "rb")


def is_complete(artifact_pk: int) -> bool:
    """True when every file of the artifact is in the storage; one that cannot be read is taken for absent.

    Not inside a transaction: a storage may be far away.
    """
    names = list(ArtifactFile.objects.filter(artifact=artifact_pk).values_list("name", flat=True))
    try:
        return bool(names) and all(storage().exists(name) for name in names)
    except OSError:
        return False


def is_owned(name: str) -> bool:
    """True when a row owns the file."""
    return ArtifactFile.objects.filter(name=name).exists()


def is_named_for(file: StoredFile, asset_pk: int, dispatch_id: str, unit: str) -> bool:
    """True when the name is one that `save` gives for this unit; nobody else's file can be claimed or removed."""
    start = f"{asset_pk}/{dispatch_id}-{unit}"
    return file.name.startswith(start) and file.name[len(start) : len(start) + 1] in (".", "-", "_")


def validate(stage: Stage, files: Mapping[str, StoredFile], *, is_part: bool = False) -> dict[str, StoredFile]:
    """Read every file back, and return the files as they really are: what a sender says of size and sides is dropped.

    Raises BadMedia unless each is there, whole, decodes, and is what the stage makes. A part may also be of a type that
    only parts have.
    """
    if ArtifactFile.MAIN not in files:
        raise BadMedia("The result has no main file.")
    return {role: _validated(stage, file, _types_of(stage, role, is_part)) for role, file in files.items()}


def verify_identity() -> None:
    """Raise StoreMismatch unless the id file in the storage equals the one in PostgreSQL.

    A process that wrote to another folder or bucket would publish files that nobody else can see. The first process
    of a new installation writes both.
    """
    identity, _ = StoreIdentity.objects.get_or_create(id=1)
    expected = str(identity.token)
    if not storage().exists(IDENTITY_FILE):
        if Artifact.objects.exists():
            raise StoreMismatch("The artifact storage is empty, but the database has artifacts. Check ARTIFACT_ROOT.")
        storage().save(IDENTITY_FILE, ContentFile(expected.encode()))
    with open_file(IDENTITY_FILE) as file:
        found = file.read().decode(errors="replace").strip()
    if found != expected:
        raise StoreMismatch(f"The artifact storage belongs to another database ({found}). Check ARTIFACT_ROOT.")


def read_whole(file: StoredFile) -> bytes:
    """Return the content of the file. Raises FileNotFoundError, and BadMedia when it is not what was stored."""
    with open_file(file.name) as stored:
        content = stored.read()
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise BadMedia(f"{file.name} is not the file that was sent.")
    return content


def _types_of(stage: Stage, role: str, is_part: bool) -> frozenset[str]:
    if role == ArtifactFile.MAIN:
        return stage.file_types | (stage.part_types if is_part else frozenset())
    return roles.PICTURES if roles.PICTURE.fullmatch(role) else roles.OTHER_ROLES.get(role, frozenset())


def _validated(stage: Stage, file: StoredFile, types: frozenset[str]) -> StoredFile:
    if file.content_type not in types:
        raise BadMedia(f"{file.content_type} is not what the stage {stage.name} makes as {file.role}.")
    try:
        content = read_whole(file)
    except FileNotFoundError:
        raise BadMedia(f"{file.name} is not in the storage.") from None
    if len(content) < SMALLEST_FILE_BYTES and file.role == ArtifactFile.MAIN:
        raise BadMedia(f"{file.name} has {len(content)} bytes; that is not a {stage.noun}.")
    media.validate(file.name, file.content_type, content)
    return replace(file, size=len(content), **asdict(media.measure(file.content_type, content)))
