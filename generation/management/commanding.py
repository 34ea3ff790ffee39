"""What the management commands that give commands share: how a book is named, who acts, and how the answer is told."""

import getpass
import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation.commands.answers import PK_LIMIT, Actor
from generation.exceptions import GenerationError
from generation.models import Book
from generation.models.books import validate_key
from generation.stages import StageName


class CommandingCommand(BaseCommand):
    """Give one command on a book. Subclasses say how to plan and how to apply it."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("book", help="the book's key, or its id")
        names = ", ".join(StageName.values)
        parser.add_argument("--stage", action="append", default=[], dest="stages", metavar="STAGE", help=names)
        parser.add_argument("--dry-run", action="store_true", help="say what it would do, and do nothing")
        parser.add_argument("--key", help="idempotency key: the same key never acts twice")
        parser.add_argument("--json", action="store_true", help="print the answer as one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["dry_run"] and options["key"] is not None:
            raise CommandError("A dry run takes no --key.")
        try:
            book = book_called(options["book"])
            answer = self.plan(book, options) if options["dry_run"] else self.apply(book, options)
        except GenerationError as error:
            raise CommandError(f"{error} ({error.code})") from error
        if options["json"]:
            self.stdout.write(json.dumps({"book": book.pk, "dry_run": options["dry_run"], **answer}))
        else:
            self.stdout.write(f"{'Dry run. ' if options['dry_run'] else ''}{book.title}: {self.words(answer)}.")

    def plan(self, book: Book, options: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def apply(self, book: Book, options: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def words(self, answer: dict[str, Any]) -> str:
        raise NotImplementedError


def actor() -> Actor:
    """Return who sits at the terminal; whoever may run manage.py may do everything."""
    try:
        return Actor(f"manage.py {getpass.getuser()}"[:150])
    except (KeyError, OSError):
        return Actor("manage.py")


def book_called(named: str) -> Book:
    """Return the book with this key, else the one with this id."""
    try:
        validate_key(named)
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from error
    book = Book.objects.filter(key=named).first()
    if book is None and named.isdecimal() and int(named) < PK_LIMIT:
        book = Book.objects.filter(pk=int(named)).first()
    if book is None:
        raise CommandError(f"There is no book {named!r}.")
    return book
