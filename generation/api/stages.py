"""Stages as a whole: how many of their assets run at once, their pause, their circuit."""

from types import SimpleNamespace
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from generation import selectors
from generation.commands import limits, pause, reset_circuit
from generation.models import StageConfig
from generation.stages import StageName

from .commands import KEY_PARAMETER, CommandBody, Paused, give
from .pages import StrictAddress


class StageSerializer(serializers.Serializer[Any]):
    stage = serializers.CharField()
    quota = serializers.IntegerField(help_text="assets that run at once")
    paused_at = serializers.DateTimeField(allow_null=True)
    paused_by = serializers.CharField()
    paused_why = serializers.CharField()


class QuotaBody(CommandBody):
    quota = serializers.IntegerField(help_text=f"0 to {limits.QUOTA_MOST}; a lower one ends nothing that runs")


class WhyBody(CommandBody):
    why = serializers.CharField(default="", allow_blank=True, max_length=pause.WHY_MAX)


class Limited(serializers.Serializer[Any]):
    dry_run = serializers.BooleanField()
    changes = serializers.BooleanField()
    was = serializers.IntegerField()
    becomes = serializers.IntegerField()


class Reset(serializers.Serializer[Any]):
    dry_run = serializers.BooleanField()
    stage = serializers.CharField()


# The command of the module limits that is meant here.
QUOTA = SimpleNamespace(plan=limits.plan_quota, apply=limits.apply_quota)


class StageViewSet(StrictAddress, GenericViewSet[StageConfig]):
    queryset = StageConfig.objects.all()
    serializer_class = StageSerializer
    lookup_value_converter = "str"

    @extend_schema(responses=StageSerializer(many=True))
    def list(self, request: Request) -> Response:
        rows = {row.stage: row for row in StageConfig.objects.all()}
        quotas = selectors.quotas()
        shown = [rows.get(stage) or StageConfig(stage=stage, quota=quotas[stage]) for stage in StageName]
        return Response(StageSerializer(shown, many=True).data)

    @extend_schema(parameters=[KEY_PARAMETER], request=QuotaBody, responses=Limited)
    @action(detail=True, methods=["post"])
    def quota(self, request: Request, pk: str) -> Response:
        """In force from the next tick on."""
        return give(request, QuotaBody, QUOTA, lambda **fields: limits.QuotaRequest(pk, **fields))

    @extend_schema(parameters=[KEY_PARAMETER], request=CommandBody, responses=Reset)
    @action(detail=True, methods=["post"])
    def reset_circuit(self, request: Request, pk: str) -> Response:
        """A stage that was stopped after too many failures goes on with the next tick."""
        return give(request, CommandBody, reset_circuit, lambda: reset_circuit.Request(pk))

    @extend_schema(parameters=[KEY_PARAMETER], request=WhyBody, responses=Paused)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Nothing new of the stage starts anywhere; what runs is finished."""
        return self._pause(request, pk, paused=True)

    @extend_schema(parameters=[KEY_PARAMETER], request=WhyBody, responses=Paused)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        return self._pause(request, pk, paused=False)

    def _pause(self, request: Request, pk: str, *, paused: bool) -> Response:
        def make(**fields: Any) -> pause.Request:
            return pause.Request(pause.Level.STAGE, paused, stages=(pk,), **fields)

        return give(request, WhyBody, pause, make)
