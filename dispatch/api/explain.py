from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from dispatch.explain import explain
from generation.api.pages import StrictAddress
from generation.models import Scene


class ReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(help_text="stable; for programs")
    words = serializers.CharField()
    remedy = serializers.CharField(help_text="what would change it")
    numbers = serializers.DictField()


class ExplainedSerializer(serializers.Serializer[Any]):
    asset = serializers.IntegerField()
    stage = serializers.CharField()
    state = serializers.CharField()
    reasons = ReasonSerializer(many=True)


class ExplainScene(StrictAddress, GenericAPIView[Scene]):
    """Why the assets of a scene do not run: every check in order, with its numbers."""

    queryset = Scene.objects.all()

    @extend_schema(responses=ExplainedSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        scene = get_object_or_404(Scene, pk=pk)
        return Response(
            [
                {
                    "asset": asset.pk,
                    "stage": asset.stage,
                    "state": asset.state,
                    "reasons": [reason.as_json() for reason in explain(asset)],
                }
                for asset in scene.assets.order_by("stage")
            ]
        )
