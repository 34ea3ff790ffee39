"""Put a parsed book into the record: rows for chapters, scenes, and one asset per scene and stage. Starts nothing."""

from itertools import chain, islice

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from generation import covers, journal, store
from generation.exceptions import ImportRefused
from generation.models import Asset, Book, Chapter, Scene
from generation.models.books import validate_key, words_in
from generation.stages import STAGES

from .languages import DETECTABLE_CHARACTERS, language_of
from .parsed import ParsedBook
from .splitting import split_scenes

BATCH = 2000
SAMPLE_PARAGRAPHS = 40


def import_book(parsed: ParsedBook, key: str, actor: str = "manage.py") -> Book:
    """Create the book in the name of `actor` and return it; all or nothing.

    Raises ImportRefused when the key is not printable text of 1 to 200 characters or is taken.
    """
    try:
        validate_key(key)
    except ValidationError as error:
        raise ImportRefused(" ".join(error.messages)) from error
    language = parsed.language or _detected(parsed)
    cover = covers.save(parsed.cover)
    try:
        with transaction.atomic():
            book = Book.objects.create(
                key=key, title=parsed.title, author=parsed.author, language=language, cover=cover
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


def _detected(parsed: ParsedBook) -> str:
    """Return the language of a book that does not say it, empty when its text is too short to tell."""
    sample = " ".join(islice(chain.from_iterable(chapter.paragraphs for chapter in parsed.chapters), SAMPLE_PARAGRAPHS))
    return language_of(sample, "") if len(sample) >= DETECTABLE_CHARACTERS else ""


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
