from typing import Any

from django.core.management.base import CommandParser

from generation import words
from generation.commands import regenerate
from generation.commands.scopes import WINDOW_SCENES, Scope
from generation.management.commanding import CommandingCommand, actor
from generation.models import Book


class Command(CommandingCommand):
    help = "Ask for stages of a book to be made. The tick does the work."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--scope", choices=Scope.values, default=Scope.WHOLE_BOOK.value)
        parser.add_argument("--id", action="append", type=int, default=[], dest="ids", help="of a chapter or scene")
        parser.add_argument("--count", type=int, default=WINDOW_SCENES, help="scenes of a next_window")
        parser.add_argument("--rebuild-all", action="store_true", help="also make anew what is ready or on its way")

    def plan(self, book: Book, options: dict[str, Any]) -> dict[str, Any]:
        return regenerate.plan(_request(book, options)).answer()

    def apply(self, book: Book, options: dict[str, Any]) -> dict[str, Any]:
        return regenerate.apply(_request(book, options), actor(), options["key"])

    def words(self, answer: dict[str, Any]) -> str:
        return words.queued(answer)


def _request(book: Book, options: dict[str, Any]) -> regenerate.Request:
    return regenerate.Request(
        book.pk,
        tuple(options["stages"]),
        Scope(options["scope"]),
        tuple(options["ids"]),
        rebuild_all=options["rebuild_all"],
        count=options["count"],
    )
