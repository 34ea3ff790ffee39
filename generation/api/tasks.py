from collections import defaultdict
from collections.abc import Sequence
from typing import Any, cast

from django.db.models import Count
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from generation.commands import cancel_task
from generation.models import Target, Task
from generation.stages import StageName

from .commands import KEY_PARAMETER, CommandBody, TakenBack, give
from .pages import PageQuery, Pages, StrictAddress, filters
from .serializers import TaskSerializer


class TaskQuery(PageQuery):
    book = serializers.IntegerField(required=False)
    stage = serializers.ChoiceField(choices=StageName.choices, required=False)
    status = serializers.ChoiceField(choices=Task.Status.choices, required=False)


class TaskPages(Pages):
    ordering = "-pk"


class TaskViewSet(StrictAddress, ReadOnlyModelViewSet[Task]):
    queries = {"list": TaskQuery}
    queryset = Task.objects.select_related("command")
    serializer_class = TaskSerializer
    pagination_class = TaskPages
    lookup_value_converter = "int"

    @extend_schema(parameters=[TaskQuery])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        rows = self.paginate_queryset(self.get_queryset().filter(**filters(TaskQuery, request))) or []
        return self.get_paginated_response(self._shown(rows))

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return Response(self._shown([self.get_object()])[0])

    @extend_schema(parameters=[KEY_PARAMETER], request=CommandBody, responses=TakenBack)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: int) -> Response:
        """Cancel this task: its own open targets, nothing else."""
        return give(request, CommandBody, cancel_task, lambda: cancel_task.Request(pk))

    def _shown(self, tasks: Sequence[Task]) -> Sequence[Any]:
        counts: dict[int, dict[str, int]] = defaultdict(dict)
        targets = Target.objects.filter(task__in=[task for task in tasks if task.status in Task.LIVE])
        counted = targets.order_by().values_list("task", "status").annotate(number=Count("pk"))
        for task, status, number in counted:
            counts[task][status] = number
        return cast(Sequence[Any], TaskSerializer(tasks, many=True, context={"counts": counts}).data)
