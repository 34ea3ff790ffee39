import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation.exceptions import ImportRefused
from generation.importing.files import read_file
from generation.importing.record import import_book


class Command(BaseCommand):
    help = "Import a plain text file or an EPUB as a book. Starts nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--key", help="your name for the book; the file's name when left out")
        parser.add_argument("--encoding", help="what a text file is written in; detected when left out")
        parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            parsed = read_file(path.read_bytes(), path.name, options["encoding"])
            book = import_book(parsed, options["key"] if options["key"] is not None else path.stem)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except ImportRefused as error:
            raise CommandError(str(error)) from error
        told = {
            "book": book.pk,
            "key": book.key,
            "title": book.title,
            "encoding": parsed.encoding,
            "chapters": book.chapters.count(),
            "scenes": book.scenes.count(),
        }
        if options["json"]:
            self.stdout.write(json.dumps(told, ensure_ascii=False))
            return
        amounts = f"chapters: {told['chapters']}, scenes: {told['scenes']}, encoding: {parsed.encoding}"
        self.stdout.write(f"{book.title} (key {book.key}). {amounts}.")
