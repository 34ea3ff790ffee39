from typing import Any

from generation import words
from generation.commands import cancel
from generation.management.commanding import CommandingCommand, actor
from generation.models import Book


class Command(CommandingCommand):
    help = "Stop all, or some stages, of a book. Nothing of it comes back without a new command."

    def plan(self, book: Book, options: dict[str, Any]) -> dict[str, Any]:
        return cancel.plan(cancel.Request(book.pk, tuple(options["stages"]))).answer()

    def apply(self, book: Book, options: dict[str, Any]) -> dict[str, Any]:
        return cancel.apply(cancel.Request(book.pk, tuple(options["stages"])), actor(), options["key"])

    def words(self, answer: dict[str, Any]) -> str:
        return words.taken_back(answer)
