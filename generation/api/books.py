from typing import Any, cast

from django.contrib.auth.models import User
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from generation import selectors
from generation.commands import cancel, layers, pause, regenerate, retry
from generation.commands.answers import Actor
from generation.exporting.sending import zip_response
from generation.models import Book, LayerConfig
from generation.stages import StageName

from .commands import (
    KEY_PARAMETER,
    LayerBody,
    PauseBody,
    Paused,
    Queued,
    RegenerateBody,
    RetryBody,
    StagesBody,
    Switched,
    TakenBack,
    give,
)
from .pages import PageQuery, Pages, StrictAddress
from .serializers import BookSerializer, LayerSerializer, ProgressSerializer


class BookPages(Pages):
    ordering = "pk"


class BookViewSet(StrictAddress, ReadOnlyModelViewSet[Book]):
    queries = {"list": PageQuery}
    queryset = Book.objects.all()
    serializer_class = BookSerializer
    pagination_class = BookPages
    lookup_value_converter = "int"

    @extend_schema(parameters=[KEY_PARAMETER], request=RegenerateBody, responses=Queued)
    @action(detail=True, methods=["post"])
    def regenerate(self, request: Request, pk: int) -> Response:
        """Ask for stages of scenes: the only way work comes to be."""
        return give(request, RegenerateBody, regenerate, lambda **fields: regenerate.Request(pk, **fields))

    @extend_schema(parameters=[KEY_PARAMETER], request=RetryBody, responses=Queued)
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: int) -> Response:
        """Regenerate exactly what failed or is blocked."""
        return give(request, RetryBody, retry, lambda **fields: retry.Request(pk, **fields))

    @extend_schema(parameters=[KEY_PARAMETER], request=StagesBody, responses=TakenBack)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: int) -> Response:
        """Stop all of these stages. Finished files are kept."""
        return give(request, StagesBody, cancel, lambda **fields: cancel.Request(pk, **fields))

    @extend_schema(parameters=[KEY_PARAMETER], request=PauseBody, responses=Paused)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: int) -> Response:
        """Nothing new starts; what runs is finished."""
        return self._pause(request, pk, paused=True)

    @extend_schema(parameters=[KEY_PARAMETER], request=PauseBody, responses=Paused)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: int) -> Response:
        return self._pause(request, pk, paused=False)

    def _pause(self, request: Request, pk: int, *, paused: bool) -> Response:
        def make(**fields: Any) -> pause.Request:
            return pause.Request(pause.Level.BOOK, paused, pk, **fields)

        return give(request, PauseBody, pause, make)

    @extend_schema(responses=ProgressSerializer)
    @action(detail=True)
    def progress(self, request: Request, pk: int) -> Response:
        """How many assets are in which state."""
        book = get_object_or_404(Book, pk=pk)
        unmade = selectors.unmade([pk])
        return Response(
            {
                "book": pk,
                "revision": book.revision,
                "stages": selectors.progress([pk])[pk],
                "unmade": {stage: unmade.get((pk, stage), 0) for stage in StageName},
                "paused": selectors.pauses([pk])[pk],
            }
        )

    @extend_schema(responses={(200, "application/zip"): bytes})
    @action(detail=True)
    def export(self, request: Request, pk: int) -> StreamingHttpResponse:
        """What is published, as a zip: sound, pictures, films, subtitles, playlists, one film per chapter."""
        Actor.of(cast(User, request.user)).require(("generation.view_scene", "generation.view_artifact"))
        return zip_response([get_object_or_404(Book, pk=pk)])

    @extend_schema(responses=LayerSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def layers(self, request: Request, pk: int) -> Response:
        Actor.of(cast(User, request.user)).require(("generation.view_layerconfig",))
        book = get_object_or_404(Book, pk=pk)
        rows = {row.stage: row for row in LayerConfig.objects.filter(book=book)}
        # No row is an enabled layer.
        shown = [rows.get(stage) or LayerConfig(book=book, stage=stage) for stage in StageName.values]
        return Response(LayerSerializer(shown, many=True).data)

    @extend_schema(parameters=[KEY_PARAMETER], request=LayerBody, responses=Switched)
    @action(detail=True, methods=["put"], url_path="layers/<str:stage>")
    def layer(self, request: Request, pk: int, stage: str) -> Response:
        """Off takes back what is queued and running of the layer; on starts nothing."""
        return give(request, LayerBody, layers, lambda **fields: layers.Request(pk, stage, **fields))
