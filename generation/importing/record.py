"""Put a parsed book into the record, new or over an earlier import of it. Starts nothing."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import F, OuterRef, Subquery

from generation.bulk import among, delete_rows
from generation.models import Asset, Book, Chapter, ImageUnit, Scene
from generation.models.books import words_in
from generation.stages import STAGES

from .matching import Named, match_scenes
from .parsed import ParsedBook, ParsedChapter, ParsedImage, ParsedScene
from .splitting import Earlier, split_scenes

BATCH = 2000


def scenes_of(chapter: ParsedChapter, earlier: Earlier | None = None) -> list[ParsedScene]:
    """Return the scenes of a chapter: those of its file, or cut from its text, by `earlier` where that still fits."""
    return list(chapter.scenes) or [ParsedScene(text) for text in split_scenes(chapter.paragraphs, earlier)]


@dataclass
class Placed:
    """One scene of the file at its place, and the row it is already in the record, if it is."""

    chapter: int
    number: int
    parsed: ParsedScene
    row: Scene | None = None
    images: tuple[ParsedImage, ...] = ()

    @property
    def is_changed(self) -> bool:
        """True when something that is rendered differs; the file's own names are not."""
        if self.row is None:
            return False
        return self.row.text != self.parsed.text or _prompts(self.images) != _prompts(self.parsed.images)


@dataclass
class Outline:
    """What an import will do to the scenes of a book: `gone` are rows that the file has no more."""

    parsed: ParsedBook
    placed: list[Placed]
    gone: list[int] = field(default_factory=list)

    @cached_property
    def changed(self) -> list[Placed]:
        return [place for place in self.placed if place.is_changed]

    def counts(self) -> dict[str, int]:
        known = sum(place.row is not None for place in self.placed)
        return {
            "chapters": len({place.chapter for place in self.placed}),
            "scenes": len(self.placed),
            "kept": known - len(self.changed),
            "changed": len(self.changed),
            "new": len(self.placed) - known,
            "deleted": len(self.gone),
        }


def outline(parsed: ParsedBook, book: Book | None = None) -> Outline:
    """Return how the file maps to the book's scenes, all new without a book. Reads only."""
    rows = list(book.scenes.select_related("chapter").order_by("position")) if book else []
    earlier = Earlier(row.text for row in rows)
    placed = [
        Placed(chapter, number, scene)
        for chapter, parsed_chapter in enumerate(parsed.chapters)
        for number, scene in enumerate(scenes_of(parsed_chapter, earlier), start=1)
    ]
    old = [Named(row.chapter.key, row.key, row.text) for row in rows]
    new = [Named(parsed.chapters[place.chapter].key, place.parsed.key, place.parsed.text) for place in placed]
    images: dict[int, list[ParsedImage]] = {}
    for unit in ImageUnit.objects.filter(among("scene", [row.pk for row in rows])).order_by("scene", "number"):
        images.setdefault(unit.scene_id, []).append(ParsedImage(unit.key, unit.prompt))
    found = match_scenes(old, new)
    for place, index in zip(placed, found, strict=True):
        if index is not None:
            place.row = rows[index]
            place.images = tuple(images.get(rows[index].pk, ()))
    kept = {index for index in found if index is not None}
    return Outline(parsed, placed, [row.pk for index, row in enumerate(rows) if index not in kept])


def write(book: Book, plan: Outline, cover: str) -> None:
    """Make the book's rows what the plan says, in a transaction under the Book lock; `gone` is deleted already.

    What a changed scene has published stays, and is compared by the tick.
    """
    parsed = plan.parsed
    book.title = parsed.title if parsed.is_titled or not book.title else book.title
    book.author, book.language = parsed.author or book.author, parsed.language or book.language
    book.cover, book.build_id = cover or book.cover, uuid.uuid4()
    book.save(update_fields=["title", "author", "language", "cover", "build_id"])
    chapters = _write_chapters(book, plan)
    _write_scenes(book, plan, chapters)
    _write_images(plan)
    _write_assets(book, [place.row for place in plan.placed if place.row])
    delete_rows(Chapter.objects.filter(book=book).exclude(among("pk", [chapter.pk for chapter in chapters])))


def _write_chapters(book: Book, plan: Outline) -> list[Chapter]:
    """Return a row for each chapter of the file: the one it was, else the one its first known scene lay in."""
    by_key = {chapter.key: chapter for chapter in book.chapters.all() if chapter.key}
    of_scenes: dict[int, list[Chapter]] = {}
    for place in plan.placed:
        if place.row is not None:
            of_scenes.setdefault(place.chapter, []).append(place.row.chapter)
    used: set[int] = set()
    chapters = []
    for index, parsed in enumerate(plan.parsed.chapters):
        candidates = [*([by_key[parsed.key]] if parsed.key in by_key else []), *of_scenes.get(index, [])]
        chapter = next((one for one in candidates if one.pk not in used), None) or Chapter(book=book)
        used.update({chapter.pk} if chapter.pk else ())
        chapter.number, chapter.title, chapter.key = index + 1, parsed.title, parsed.key
        chapters.append(chapter)
    Chapter.objects.bulk_update([one for one in chapters if one.pk], ["number", "title", "key"], batch_size=BATCH)
    Chapter.objects.bulk_create([one for one in chapters if not one.pk], batch_size=BATCH)
    return chapters


def _write_scenes(book: Book, plan: Outline, chapters: Sequence[Chapter]) -> None:
    new, moved = [], []
    changed = [place.row.pk for place in plan.changed if place.row]
    for position, place in enumerate(plan.placed, start=1):
        scene = place.row or Scene(book=book)
        before = _columns(scene) if place.row else None
        scene.chapter, scene.number, scene.position = chapters[place.chapter], place.number, position
        scene.key, scene.title, scene.text = place.parsed.key, place.parsed.title, place.parsed.text
        scene.has_words = words_in(scene.text)
        if place.row is None:
            new.append(scene)
            place.row = scene
        elif _columns(scene) != before:
            moved.append(scene)
    columns = ["chapter", "number", "position", "key", "title", "text", "has_words"]
    Scene.objects.bulk_update(moved, columns, batch_size=BATCH // 4)
    Scene.objects.bulk_create(new, batch_size=BATCH)
    # A statement of its own: the tick clears the flag without the Book lock.
    Scene.objects.filter(among("pk", changed)).update(content_version=F("content_version") + 1, recheck=True)


def _columns(scene: Scene) -> tuple[object, ...]:
    return (scene.chapter_id, scene.number, scene.position, scene.key, scene.title, scene.text, scene.has_words)


def _write_images(plan: Outline) -> None:
    """Bring the pictures of differing scenes to what the file says; one that stays keeps its row, and so its part."""
    differing = [place for place in plan.placed if place.row and place.images != place.parsed.images]
    rows: dict[tuple[int, str], ImageUnit] = {}
    for unit in ImageUnit.objects.filter(among("scene", [place.row.pk for place in differing if place.row])):
        rows[unit.scene_id, unit.key] = unit
    new: list[ImageUnit] = []
    kept: list[ImageUnit] = []
    for place in differing:
        for number, image in enumerate(place.parsed.images, start=1):
            scene = place.row
            if scene is None:
                continue
            known = rows.pop((scene.pk, image.key), None)
            unit = known or ImageUnit(scene=scene, key=image.key)
            unit.number, unit.prompt = number, image.prompt
            (kept if known else new).append(unit)
    delete_rows(ImageUnit.objects.filter(among("pk", [unit.pk for unit in rows.values()])))
    ImageUnit.objects.bulk_update(kept, ["number", "prompt"], batch_size=BATCH)
    ImageUnit.objects.bulk_create(new, batch_size=BATCH)


def _prompts(images: Sequence[ParsedImage]) -> list[str]:
    return [image.prompt for image in images]


def _write_assets(book: Book, scenes: Sequence[Scene]) -> None:
    known = set(Asset.objects.filter(book=book).values_list("scene", flat=True))
    Asset.objects.bulk_create(
        [
            Asset(book=book, scene=scene, stage=stage.name, position=scene.position, retries_left=stage.retries)
            for scene in scenes
            if scene.pk not in known
            for stage in STAGES.values()
        ],
        batch_size=BATCH,
    )
    place = Scene.objects.filter(pk=OuterRef("scene")).values("position")
    moved = Asset.objects.filter(book=book).exclude(position=F("scene__position"))
    Asset.objects.filter(pk__in=moved.values("pk")).update(position=Subquery(place))
