import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation import words
from generation.commands import import_book
from generation.commands.answers import Actor
from generation.exceptions import GenerationError, KeyTaken
from generation.importing.files import read_path


class Command(BaseCommand):
    help = "Import an EPUB, a plain text, or a bundle (folder or .zip) as a book. Starts nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--key", help="your name for the book; a bundle's own or the file's name when left out")
        parser.add_argument("--encoding", help="what a text file is written in; detected when left out")
        parser.add_argument("--update", action="store_true", help="the book with the key becomes what the file says")
        parser.add_argument("--dry-run", action="store_true", help="say what would happen and save nothing")
        parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            parsed = read_path(path, options["encoding"])
            # A bundle may be the folder one is in: "." has no name of its own.
            key = parsed.key or path.resolve().stem if options["key"] is None else options["key"]
            asked = import_book.Request(parsed, key, options["update"])
            if options["dry_run"]:
                answer = import_book.plan(asked).answer()
            else:
                answer = import_book.apply(asked, Actor("manage.py"))
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except KeyTaken as error:
            raise CommandError(f"{error} Give it another --key, or --update the book.") from error
        except GenerationError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(answer, ensure_ascii=False))
            return
        amounts = f"{words.imported(answer)}; encoding {answer['encoding']}"
        self.stdout.write(f"{answer['title']} (key {answer['key']}): {amounts}.")
