"""What an export of a book holds, file by file; nothing is read before its turn."""

import io
import json
import logging
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import av

from generation import freshness, store
from generation.cues import Cue, from_vtt, to_vtt
from generation.models import ArtifactFile, Asset, Book, Chapter, Scene
from generation.roles import MAIN, SUBTITLES, picture_roles
from generation.stages import StageName

from .names import safe_name
from .stitching import stitch

logger = logging.getLogger(__name__)

# What of a stage's files goes into an export, by role.
Wanted = list[tuple[str, ArtifactFile]]


@dataclass
class Export:
    """The files of a book, and what came of it once all are taken. Reads only; nothing is generated."""

    book: Book
    files: int = 0
    size: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    out_of_date: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    _playlists: dict[StageName, list[str]] = field(default_factory=dict)
    _chapters: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return safe_name(self.book.title, f"book {self.book.pk}")

    def answer(self) -> dict[str, Any]:
        """Return {"book", "title", "files", "bytes", "missing": {stage: assets}, "out_of_date": …, "problems": […]}."""
        told = {"book": self.book.pk, "title": self.book.title, "files": self.files, "bytes": self.size}
        return {
            **told,
            "missing": dict(self.missing),
            "out_of_date": dict(self.out_of_date),
            "problems": self.problems,
        }

    def __iter__(self) -> Iterator[tuple[str, IO[bytes]]]:
        """Yield (name, open file) of every file; it is closed when the next one is taken."""
        self._playlists = {StageName.AUDIO: [], StageName.VIDEO: []}
        for name, file in self._all():
            with file:
                yield name, file

    def took(self, file: IO[bytes]) -> None:
        """Count a file that was read to its end."""
        self.files += 1
        self.size += file.tell()

    def _all(self) -> Iterator[tuple[str, IO[bytes]]]:
        # Read at once: what is moved meanwhile must not be missing in both places.
        rows = Scene.objects.filter(book=self.book).select_related("chapter").order_by("position")
        scenes = list(rows.prefetch_related("image_units", "assets__published__files"))
        cover = self._opened(self.book.cover) if self.book.cover else None
        cover_name = f"cover.{self.book.cover.rpartition('.')[2]}" if cover else ""
        if cover:
            yield cover_name, cover
        for chapter, group in groupby(scenes, key=lambda scene: scene.chapter):
            yield from self._chapter(chapter, list(group))
        for stage, lines in self._playlists.items():
            if lines:
                name = "narration.m3u8" if stage == StageName.AUDIO else "video.m3u8"
                yield name, io.BytesIO("\n".join(["#EXTM3U", *lines, ""]).encode())
        yield "book.json", _json(self._book_json(cover_name))

    def _chapter(self, chapter: Chapter, scenes: Sequence[Scene]) -> Iterator[tuple[str, IO[bytes]]]:
        folder = f"{chapter.number:03} {safe_name(chapter.title, 'chapter')}"
        stale = _stale(scenes)
        films: list[tuple[Scene, dict[str, ArtifactFile]]] = []
        for scene in scenes:
            for asset in scene.assets.all():
                files = {file.role: file for file in asset.published.files.all()} if asset.published else {}
                if MAIN not in files:
                    self.missing[asset.stage] += 1
                    continue
                self.out_of_date[asset.stage] += asset.pk in stale
                if asset.stage == StageName.VIDEO:
                    films.append((scene, files))
                yield from self._files_of(asset, scene, files, folder)
        yield from self._stitched(folder, films)
        name = f"chapters/{chapter.number:03}.json"
        self._chapters.append(name)
        yield name, _json(_chapter_json(chapter, scenes))

    def _files_of(
        self, asset: Asset, scene: Scene, files: dict[str, ArtifactFile], folder: str
    ) -> Iterator[tuple[str, IO[bytes]]]:
        for suffix, file in _wanted(StageName(asset.stage), files):
            opened = self._opened(file.name)
            if opened is None:
                continue
            name = f"{folder}/{scene.number:03}{suffix}.{store.EXTENSIONS[file.content_type]}"
            if asset.stage in self._playlists and file.role == MAIN:
                seconds = round((file.duration_ms or 0) / 1000)
                self._playlists[StageName(asset.stage)] += [f"#EXTINF:{seconds},{_one_line(str(scene))}", name]
            yield name, opened

    def _stitched(
        self, folder: str, films: Sequence[tuple[Scene, dict[str, ArtifactFile]]]
    ) -> Iterator[tuple[str, IO[bytes]]]:
        """Yield the chapter's films as one, with subtitles."""
        there = [files for _, files in films if self._is_there(files[MAIN].name)]
        if not there:
            return
        with tempfile.TemporaryDirectory(prefix="animastor-export-") as directory:
            target = Path(directory) / "chapter.mp4"
            try:
                starts = stitch([partial(store.open_file, files[MAIN].name) for files in there], target)
            except (av.FFmpegError, ValueError, OSError) as error:
                logger.exception("the films of %s were not joined", folder)
                self.problems.append(f"{folder}.mp4 was not made: {error}")
                return
            yield f"{folder}.mp4", target.open("rb")
        cues = [
            cue.shifted(start)
            for start, files in zip(starts, there, strict=True)
            for cue in self._cues(files.get(SUBTITLES))
        ]
        if cues:
            yield f"{folder}.vtt", io.BytesIO(to_vtt(cues))

    def _cues(self, subtitles: ArtifactFile | None) -> list[Cue]:
        file = self._opened(subtitles.name) if subtitles else None
        if file is None:
            return []
        with file:
            return from_vtt(file.read())

    def _opened(self, name: str) -> IO[bytes] | None:
        """Return the open file; None for one that is gone, which is told."""
        try:
            return store.open_file(name)
        except FileNotFoundError:
            self._tell(f"{name} is gone from the storage.")
            return None

    def _is_there(self, name: str) -> bool:
        is_there = store.storage().exists(name)
        if not is_there:
            self._tell(f"{name} is gone from the storage.")
        return is_there

    def _tell(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def _book_json(self, cover: str) -> dict[str, Any]:
        book = self.book
        told = {"id": book.key, "title": book.title, "author": book.author, "language": book.language}
        return {**told, "cover": cover, "chapters": self._chapters}


def _wanted(stage: StageName, files: dict[str, ArtifactFile]) -> Wanted:
    match stage:
        case StageName.IMAGE:
            roles = picture_roles(files)
            return [("" if number == 1 else f"-{number}", files[role]) for number, role in enumerate(roles, start=1)]
        case StageName.VIDEO:
            # Its subtitles are those of the narration; without one they are its own.
            return [("", files[MAIN])]
        case StageName.AUDIO:
            return [("", files[role]) for role in (MAIN, SUBTITLES) if role in files]


def _stale(scenes: Sequence[Scene]) -> set[int]:
    assets = Asset.objects.filter(freshness.stale(), scene__in=[scene.pk for scene in scenes])
    return set(assets.values_list("pk", flat=True))


def _chapter_json(chapter: Chapter, scenes: Sequence[Scene]) -> dict[str, Any]:
    """Return the chapter as a bundle has it, so that an export can be imported."""
    return {
        "id": chapter.key or f"c{chapter.pk}",
        "title": chapter.title,
        "scenes": [
            {
                "id": scene.key or f"s{scene.pk}",
                "title": scene.title,
                "text": scene.text,
                "images": [{"id": unit.key, "prompt": unit.prompt} for unit in scene.image_units.all()],
            }
            for scene in scenes
        ],
    }


def _json(content: dict[str, Any]) -> io.BytesIO:
    return io.BytesIO(json.dumps(content, ensure_ascii=False, indent=1).encode())


def _one_line(text: str) -> str:
    return " ".join(text.split())
