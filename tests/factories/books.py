import factory

from generation.models import Asset, Book, Chapter, Scene
from generation.stages import STAGES


class BookFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Book

    key = factory.Sequence(lambda number: f"book-{number}")
    title = factory.Sequence(lambda number: f"Book {number}")
    language = "en"


class ChapterFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Chapter

    book = factory.SubFactory(BookFactory)
    number = factory.Sequence(lambda number: number + 1)
    title = "The Sea"


def make_book(scenes: int = 2, **fields: object) -> Book:
    """Create a book with one chapter, its scenes, and an asset per scene and stage."""
    book = BookFactory(**fields)
    chapter = ChapterFactory(book=book)
    Scene.objects.bulk_create(
        Scene(book=book, chapter=chapter, number=number, position=number, text=f"The ship sails on day {number}.")
        for number in range(1, scenes + 1)
    )
    Asset.objects.bulk_create(
        Asset(book=book, scene=scene, stage=stage.name, position=scene.position, retries_left=stage.retries)
        for scene in Scene.objects.filter(book=book)
        for stage in STAGES.values()
    )
    return book


def images_of(book: Book) -> list[Asset]:
    return list(Asset.objects.filter(book=book, stage="image").order_by("position"))
