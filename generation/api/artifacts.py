from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from generation.models import Artifact
from generation.stages import StageName

from .pages import PageQuery, Pages, StrictAddress, filters
from .serializers import ArtifactSerializer


class ArtifactQuery(PageQuery):
    book = serializers.IntegerField(required=False, source="asset__book")
    scene = serializers.IntegerField(required=False, source="asset__scene")
    stage = serializers.ChoiceField(choices=StageName.choices, required=False, source="asset__stage")


class ArtifactPages(Pages):
    ordering = "pk"


class ArtifactViewSet(StrictAddress, ReadOnlyModelViewSet[Artifact]):
    queries = {"list": ArtifactQuery}
    queryset = Artifact.objects.select_related("asset").prefetch_related("files")
    serializer_class = ArtifactSerializer
    pagination_class = ArtifactPages
    lookup_value_converter = "int"

    @extend_schema(parameters=[ArtifactQuery])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        rows = self.paginate_queryset(self.get_queryset().filter(**filters(ArtifactQuery, request)))
        return self.get_paginated_response(ArtifactSerializer(rows, many=True).data)
