"""An export as a folder, as a zip, or as a zip that is sent while it is made."""

import io
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.utils import timezone

from generation.exceptions import ExportRefused

from .book import Export

CHUNK_BYTES = 1024 * 1024
# What is compressed already stays as it is.
TEXTS = (".json", ".vtt", ".m3u8")


def to_folder(export: Export, target: Path) -> None:
    """Write the files into a new folder; all or nothing. Raises ExportRefused, OSError."""
    _require_free(target)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
        folder = Path(scratch) / "export"
        for name, file in export:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as written:
                shutil.copyfileobj(file, written, CHUNK_BYTES)
                export.took(file)
        folder.chmod(0o755)
        folder.rename(target)


def to_zip(export: Export, target: Path) -> None:
    """Write the files into a new zip; all or nothing. Raises ExportRefused, OSError."""
    _require_free(target)
    with tempfile.NamedTemporaryFile(prefix=f".{target.name}-", dir=target.parent, delete=False) as scratch:
        try:
            for chunk in zip_chunks([export]):
                scratch.write(chunk)
            scratch.flush()
            Path(scratch.name).chmod(0o644)
            Path(scratch.name).rename(target)
        except BaseException:
            Path(scratch.name).unlink(missing_ok=True)
            raise


def zip_chunks(exports: Iterable[Export]) -> Iterator[bytes]:
    """Yield the bytes of a zip with a folder per book, as they come: nothing is kept, whatever its size."""
    sink = _Sink()
    taken: set[str] = set()
    now = timezone.localtime()
    written_at = (now.year, now.month, now.day, now.hour, now.minute, now.second)
    with zipfile.ZipFile(sink, "w", allowZip64=True) as packed:
        for export in exports:
            folder, number = export.name, 1
            # Two names that differ in their capitals are one on many file systems.
            while folder.casefold() in taken:
                number += 1
                folder = f"{export.name} ({number})"
            taken.add(folder.casefold())
            for name, file in export:
                info = zipfile.ZipInfo(f"{folder}/{name}", written_at)
                info.compress_type = zipfile.ZIP_DEFLATED if name.endswith(TEXTS) else zipfile.ZIP_STORED
                with packed.open(info, "w", force_zip64=True) as entry:
                    while chunk := file.read(CHUNK_BYTES):
                        entry.write(chunk)
                        yield sink.taken()
                export.took(file)
                yield sink.taken()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """What was written since it was last taken; a stream that cannot go back, as a zip on its way cannot."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._waiting += data
        return len(data)

    def taken(self) -> bytes:
        chunk = bytes(self._waiting)
        self._waiting.clear()
        return chunk


def _require_free(target: Path) -> None:
    if target.exists():
        raise ExportRefused(f"{target} exists. Nothing was written.")
    if not target.parent.is_dir():
        raise ExportRefused(f"There is no folder {target.parent}. Nothing was written.")
