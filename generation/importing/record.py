"""Put a parsed book into the record: rows for chapters, scenes, and one asset per scene and stage. Starts nothing."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from generation import covers, journal, store
from generation.exceptions import ImportRefused
from generation.models import Asset, Book, Chapter, Scene
from generation.models.books import validate_key, words_in
from generation.stages import STAGES

from .parsed import ParsedBook
from .splitting import split_scenes

BATCH = 2000


def import_book(parsed: ParsedBook, key: str, actor: str = "manage.py") -> Book:
    """Create the book in the name of `actor` and return it; all or nothing.

    Raises ImportRefused when the key is not printable text of 1 to 200 characters or is taken.
    """
    try:
        validate_key(key)
    except ValidationError as error:
        raise ImportRefused(" ".join(error.messages)) from error
    cover = covers.save(parsed.cover)
    try:
        with transaction.atomic():
            book = Book.objects.create(
                key=key, title=parsed.title, author=parsed.author, language=parsed.language, cover=cover
            )
            _create_scenes(book, parsed)
            journal.record("imported", book, actor=actor)
    except IntegrityError:
        if cover:
            store.storage().delete(cover)
        if Book.objects.filter(key=key).exists():
            raise ImportRefused(f"There is already a book with the key {key!r}.") from None
        raise
    return book


def _create_scenes(book: Book, parsed: ParsedBook) -> None:
    position = 0
    for number, parsed_chapter in enumerate(parsed.chapters, start=1):
        chapter = Chapter.objects.create(book=book, number=number, title=parsed_chapter.title)
        scenes = []
        for scene_number, text in enumerate(split_scenes(parsed_chapter.paragraphs), start=1):
            position += 1
            scenes.append(
                Scene(
                    book=book,
                    chapter=chapter,
                    number=scene_number,
                    position=position,
                    text=text,
                    has_words=words_in(text),
                )
            )
        Scene.objects.bulk_create(scenes, batch_size=BATCH)
    Asset.objects.bulk_create(
        [
            Asset(book=book, scene=scene, stage=stage.name, position=scene.position, retries_left=stage.retries)
            for scene in Scene.objects.filter(book=book).order_by("position")
            for stage in STAGES.values()
        ],
        batch_size=BATCH,
    )
