from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.routers import SimpleRouter

from .artifacts import ArtifactViewSet
from .books import BookViewSet
from .imports import ImportView
from .scenes import ScenesOfBook, SceneViewSet
from .session import SessionView
from .stages import StageViewSet
from .tasks import TaskViewSet


@csrf_exempt
def nowhere(request: HttpRequest) -> HttpResponse:
    """Any other address is refused like everything here, not with a page."""
    error = {"code": "not_found", "message": "There is nothing at this address."}
    return JsonResponse({"error": error}, status=404)


router = SimpleRouter(use_regex_path=False)
router.register("books", BookViewSet)
router.register("scenes", SceneViewSet)
router.register("stages", StageViewSet)
router.register("tasks", TaskViewSet)
router.register("artifacts", ArtifactViewSet)

urlpatterns = [
    *router.urls,
    path("books/<int:pk>/scenes/", ScenesOfBook.as_view(), name="book-scenes"),
    path("imports/", ImportView.as_view(), name="imports"),
    path("session/", SessionView.as_view(), name="session"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="api-docs"),
    re_path("", nowhere),
]
