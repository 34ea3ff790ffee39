from django.urls import path

from .explain import ExplainScene

urlpatterns = [path("scenes/<int:pk>/explain/", ExplainScene.as_view(), name="scene-explain")]
