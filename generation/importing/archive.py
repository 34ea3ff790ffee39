"""Reading a zip that somebody sent: no name leads out of it, and it does not grow beyond its limits."""

import io
import os
import posixpath
import zipfile
from pathlib import Path
from typing import Protocol

from generation.exceptions import ImportRefused

LARGEST_ARCHIVE_BYTES = 200 * 1024 * 1024
MOST_ENTRIES = 10_000
MOST_UNPACKED_BYTES = 500 * 1024 * 1024
LARGEST_ENTRY_BYTES = 100 * 1024 * 1024
# What text and pictures never reach; a bomb lives from it.
MOST_RATIO, RATIO_COUNTS_FROM_BYTES = 200, 5 * 1024 * 1024
ENCRYPTED_FLAG = 0x1


class Source(Protocol):
    """Files by relative names; none leads out."""

    def names(self) -> list[str]: ...

    def __contains__(self, name: str) -> bool: ...

    def read(self, name: str) -> bytes:
        """Return the content. Raises ImportRefused when it is missing, damaged or too large."""
        ...


class Archive:
    """A zip in memory. Every name is relative and stays inside."""

    def __init__(self, data: bytes, noun: str) -> None:
        """Raises ImportRefused; `noun` is what the message calls the file."""
        self._noun = noun
        if len(data) > LARGEST_ARCHIVE_BYTES:
            raise ImportRefused(f"The {noun} has {len(data)} bytes; {LARGEST_ARCHIVE_BYTES} is the most.")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except Exception as error:  # a reader fed with anything raises anything: BadZipFile, IndexError, struct.error …
            raise ImportRefused(f"The file is no {noun}: {error}.") from None
        # A damaged zip can hold entries without a name, of which `is_dir` makes an error.
        named = (entry for entry in self._zip.infolist() if entry.filename)
        self._entries = {entry.filename: entry for entry in named if not entry.is_dir()}
        self._refuse_bombs()
        for name in self._entries:
            if _leads_out(name):
                raise ImportRefused(f"The {noun} holds {name!r}, which leads out of it.")

    def names(self) -> list[str]:
        return list(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """Return the content of an entry. Raises ImportRefused when it is missing, damaged, locked or too large."""
        entry = self._entries.get(name)
        if entry is None:
            raise ImportRefused(f"The {self._noun} names {name!r}, which it does not hold.")
        if entry.flag_bits & ENCRYPTED_FLAG:
            raise ImportRefused(f"The {self._noun} is locked with a password.")
        try:
            with self._zip.open(entry) as stream:
                # What an entry says about its size need not be true.
                content = stream.read(LARGEST_ENTRY_BYTES + 1)
        except Exception as error:
            raise ImportRefused(f"{name!r} in the {self._noun} is damaged: {error}.") from None
        if len(content) > LARGEST_ENTRY_BYTES:
            raise ImportRefused(f"{name!r} in the {self._noun} is larger than {LARGEST_ENTRY_BYTES} bytes.")
        return content

    def _refuse_bombs(self) -> None:
        entries = self._entries.values()
        unpacked = sum(entry.file_size for entry in entries)
        if len(entries) > MOST_ENTRIES or unpacked > MOST_UNPACKED_BYTES:
            raise ImportRefused(
                f"The {self._noun} would unpack to {len(entries)} files of {unpacked} bytes; "
                f"{MOST_ENTRIES} and {MOST_UNPACKED_BYTES} are the most."
            )
        for entry in entries:
            packed = max(1, entry.compress_size)
            if entry.file_size > RATIO_COUNTS_FROM_BYTES and entry.file_size / packed > MOST_RATIO:
                raise ImportRefused(f"{entry.filename!r} in the {self._noun} unpacks to {MOST_RATIO} times its size.")


class Folder:
    """A folder on disk, by the same rules as a zip; links and what begins with a dot are passed over."""

    def __init__(self, root: Path) -> None:
        """Raises ImportRefused for a folder that holds more than a zip may."""
        self._files: dict[str, Path] = {}
        unpacked = 0
        for directory, folders, files in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for path in (Path(directory, name) for name in files if not name.startswith(".")):
                if path.is_symlink() or not path.is_file():
                    continue
                self._files[path.relative_to(root).as_posix()] = path
                unpacked += path.stat().st_size
                if len(self._files) > MOST_ENTRIES or unpacked > MOST_UNPACKED_BYTES:
                    raise ImportRefused(
                        f"The folder {root.name} holds more than {MOST_ENTRIES} files or {MOST_UNPACKED_BYTES} bytes."
                    )

    def names(self) -> list[str]:
        return list(self._files)

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def read(self, name: str) -> bytes:
        path = self._files.get(name)
        if path is None:
            raise ImportRefused(f"The folder names {name!r}, which it does not hold.")
        if path.stat().st_size > LARGEST_ENTRY_BYTES:
            raise ImportRefused(f"{name!r} in the folder is larger than {LARGEST_ENTRY_BYTES} bytes.")
        try:
            return path.read_bytes()
        except OSError as error:
            raise ImportRefused(f"{name!r} in the folder cannot be read: {error.strerror}.") from None


def resolve(base: str, reference: str) -> str:
    """Return the entry that `reference` in the entry `base` names. Raises ImportRefused when it leads out."""
    name = posixpath.normpath(posixpath.join(posixpath.dirname(base), reference))
    if _leads_out(name):
        raise ImportRefused(f"{base!r} names {reference!r}, which leads out of the file.")
    return name


def _leads_out(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\x00" in name
