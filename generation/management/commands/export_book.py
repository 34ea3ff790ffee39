import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation import words
from generation.exceptions import GenerationError
from generation.exporting.book import Export
from generation.exporting.writing import to_folder, to_zip
from generation.management.commanding import book_called


class Command(BaseCommand):
    help = "Write what a book has published: sound, pictures, films, subtitles, playlists, one film per chapter."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("book", help="the book's key, or its id")
        parser.add_argument("target", type=Path, help="a new folder, or a new file that ends in .zip")
        parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        target: Path = options["target"]
        try:
            export = Export(book_called(options["book"]))
            write = to_zip if target.suffix.lower() == ".zip" else to_folder
            write(export, target)
        except GenerationError as error:
            raise CommandError(f"{error} ({error.code})") from error
        except OSError as error:
            raise CommandError(f"{target} was not written: {error.strerror or error}.") from error
        if options["json"]:
            self.stdout.write(json.dumps({**export.answer(), "target": str(target)}, ensure_ascii=False))
        else:
            self.stdout.write(f"{target}: {words.exported(export.answer())}.")
        for problem in export.problems:
            self.stderr.write(problem)
