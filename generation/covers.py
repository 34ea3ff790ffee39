"""The picture on the front of a book, as it came with the file."""

import uuid

from django.core.files.base import ContentFile
from django.db import transaction

from . import media, store
from .exceptions import BadMedia

LARGEST_COVER_BYTES = 20 * 1024 * 1024


def save(content: bytes) -> str:
    """Put the picture into the storage and return its name; an empty text for none, or one that does not decode.

    Not inside a transaction: a storage may be far away.
    """
    content_type = media.picture_type_of(content)
    if not content_type or len(content) > LARGEST_COVER_BYTES:
        return ""
    try:
        media.validate("cover", content_type, content)
    except BadMedia:
        return ""
    name = f"covers/{uuid.uuid4().hex}.{store.EXTENSIONS[content_type]}"
    return store.storage().save(name, ContentFile(content))


def content_type_of(name: str) -> str:
    extension = name.rpartition(".")[2]
    return next(kind for kind, known in store.EXTENSIONS.items() if known == extension)


def remove_after_commit(name: str) -> None:
    """Remove the file once the transaction that replaced it is there; if that is lost, reconciliation finds it."""
    transaction.on_commit(lambda: store.storage().delete(name), robust=True)
