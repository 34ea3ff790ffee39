"""Finished parts: kept by the fingerprint of what they are made from, until all are joined and published."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence

from dispatch.models import Dispatch, Part
from generation import store
from generation.store import StoredFile

logger = logging.getLogger(__name__)

# A unit and the fingerprint of its inputs.
Key = tuple[str, str]


def keep(dispatch: Dispatch, unit: str, files: Mapping[str, StoredFile]) -> list[str]:
    """Keep the files as the part of this unit; return the names that it had before, which nobody needs any more."""
    fingerprint = dict(map(tuple, dispatch.units))[unit]
    mine = Part.objects.filter(asset=dispatch.asset, unit=unit, fingerprint=fingerprint)
    earlier = names_of(mine)
    saved = {role: file.as_json() for role, file in files.items()}
    Part.objects.update_or_create(asset=dispatch.asset, unit=unit, fingerprint=fingerprint, defaults={"files": saved})
    return earlier


def present(asset_pk: int, keys: Collection[Key]) -> dict[Key, Part]:
    """Return the parts that are there, of those wanted."""
    parts = Part.objects.filter(asset=asset_pk, unit__in=[unit for unit, _ in keys])
    found = {(part.unit, part.fingerprint): part for part in parts}
    return {key: part for key, part in found.items() if key in keys}


def of_dispatch(dispatch: Dispatch) -> tuple[list[Part], list[str]]:
    """Return the parts of the dispatch that are there, in order, and the units that are missing."""
    wanted: list[Key] = [(unit, fingerprint) for unit, fingerprint in dispatch.units]
    found = present(dispatch.asset_pk, wanted)
    return [found[key] for key in wanted if key in found], [key[0] for key in wanted if key not in found]


def drop_lost(asset_pks: Sequence[int]) -> None:
    """Forget the parts of these assets whose files are gone, so that they are asked for again, alone.

    Not inside a transaction: a storage may be far away. When it cannot be asked, nothing is forgotten.
    """
    for part in Part.objects.filter(asset__in=asset_pks):
        try:
            is_stored = all(store.storage().exists(name) for name in _names_of(part))
        except OSError:
            logger.warning("the storage cannot be asked for part %s of asset %s", part.unit, part.asset_id)
            continue
        if not is_stored:
            drop(part)


def drop(part: Part) -> None:
    """Forget a part that is lost or damaged, and remove what is left of it."""
    logger.warning("part %s of asset %s is lost", part.unit, part.asset_id)
    part.delete()
    remove_files(_names_of(part))


def owns(file: StoredFile) -> bool:
    """True when the file belongs to a part that is kept."""
    return Part.objects.filter(files__contains={file.role: {"name": file.name}}).exists()


def forget(asset_pk: int) -> list[str]:
    """Delete the parts of an asset and return the names of their files."""
    parts = Part.objects.filter(asset=asset_pk)
    names = names_of(parts)
    parts.delete()
    return names


def remove_files(names: Iterable[str]) -> None:
    """Remove files that no row owns any more. Never raises; reconciliation removes what is left."""
    for name in names:
        try:
            store.storage().delete(name)
        except OSError:
            logger.warning("%s was not removed; reconciliation removes files that no row owns", name)


def names_of(parts: Iterable[Part]) -> list[str]:
    """Return the stored names of the files of these parts."""
    return [name for part in parts for name in _names_of(part)]


def _names_of(part: Part) -> list[str]:
    return [file["name"] for file in part.files.values()]
