from pathlib import PurePath
from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from generation.commands import import_book
from generation.commands.answers import Actor
from generation.commands.permissions import IMPORT
from generation.exceptions import ImportRefused
from generation.importing.archive import LARGEST_ARCHIVE_BYTES
from generation.importing.files import read_file
from generation.models.books import KEY_MAX

from .commands import KEY_PARAMETER, CommandBody, answer
from .pages import StrictAddress

CREATED = 201


class ImportBody(CommandBody):
    file = serializers.FileField(allow_empty_file=True, help_text="EPUB, plain text, or the .zip of a bundle")
    key = serializers.CharField(
        required=False,
        max_length=KEY_MAX,
        trim_whitespace=False,
        help_text="a bundle's own or the file's name if left out",
    )
    encoding = serializers.CharField(required=False, max_length=40, help_text="for a plain text that is misread")
    update = serializers.BooleanField(  # type: ignore[assignment] # a field, and the metaclass takes it away
        default=False, help_text="a book that has the key becomes what the file says"
    )


class Imported(serializers.Serializer[Any]):
    """scenes = kept + changed + new; "deleted" are those that the file has no more."""

    dry_run = serializers.BooleanField()
    book = serializers.IntegerField(required=False, help_text="not in a dry run")
    key = serializers.CharField()
    title = serializers.CharField()
    encoding = serializers.CharField()
    language = serializers.CharField()
    chapters = serializers.IntegerField()
    scenes = serializers.IntegerField()
    kept = serializers.IntegerField()
    changed = serializers.IntegerField()
    new = serializers.IntegerField()
    deleted = serializers.IntegerField()


class ImportView(StrictAddress, APIView):
    parser_classes = [MultiPartParser]
    permission_classes = [IsAuthenticated]

    @extend_schema(parameters=[KEY_PARAMETER], request=ImportBody, responses={200: Imported, CREATED: Imported})
    def post(self, request: Request) -> Response:
        """Import a file as a book. Starts nothing."""
        Actor.of(cast(User, request.user)).require((IMPORT,))
        body = ImportBody(data=request.data)
        body.is_valid(raise_exception=True)
        fields = body.validated_data
        file = fields["file"]
        if file.size > LARGEST_ARCHIVE_BYTES:
            raise ImportRefused(f"The file has {file.size} bytes; {LARGEST_ARCHIVE_BYTES} is the most.")
        parsed = read_file(file.read(), file.name, fields.get("encoding"))
        key = fields.get("key") or parsed.key or PurePath(file.name).stem[:KEY_MAX]
        asked = import_book.Request(parsed, key, fields["update"])
        return answer(request, import_book, asked, dry_run=fields["dry_run"], done=CREATED)
