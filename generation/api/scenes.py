from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from generation.lifecycle import State
from generation.models import Asset, Book, Scene
from generation.stages import StageName

from .pages import PageQuery, Pages, StrictAddress, filters
from .serializers import SceneSerializer


class SceneQuery(PageQuery):
    chapter = serializers.IntegerField(required=False)
    stage = serializers.ChoiceField(choices=StageName.choices, required=False, help_text="with state: of this stage")
    state = serializers.ChoiceField(choices=State.choices, required=False, help_text="scenes with an asset in it")


def scene_rows(wanted: dict[str, Any]) -> QuerySet[Scene]:
    """Return scenes with all that is shown of them, in a fixed number of statements."""
    rows = Scene.objects.select_related("chapter").prefetch_related("image_units", "assets__published__files")
    of_assets = {name: wanted[name] for name in ("stage", "state") if name in wanted}
    if of_assets:
        rows = rows.filter(pk__in=Asset.objects.filter(**of_assets).values("scene"))
    return rows.filter(chapter=wanted["chapter"]) if "chapter" in wanted else rows


class ScenePages(Pages):
    ordering = "position"


class SceneViewSet(StrictAddress, mixins.RetrieveModelMixin, GenericViewSet[Scene]):
    queryset = scene_rows({})
    serializer_class = SceneSerializer
    lookup_value_converter = "int"


class ScenesOfBook(StrictAddress, ListAPIView[Scene]):
    """The scenes of a book in reading order, with their assets and published files."""

    queries = {"get": SceneQuery}
    queryset = Scene.objects.none()
    serializer_class = SceneSerializer
    pagination_class = ScenePages

    def get_queryset(self) -> QuerySet[Scene]:
        book = get_object_or_404(Book, pk=self.kwargs["pk"])
        return scene_rows(filters(SceneQuery, self.request)).filter(book=book)

    @extend_schema(parameters=[SceneQuery])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)
