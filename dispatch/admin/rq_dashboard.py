"""django-rq lets every staff user delete jobs by URL. Ours shows its pages to superusers only."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, URLResolver
from django_rq.admin import QueueAdmin
from django_rq.models import Dashboard

View = Callable[..., HttpResponseBase]
# These authenticate by token or staff session themselves, and only read.
READ_ONLY = {"django_rq_home_json", "django_rq_metrics"}


def superusers_only(view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not request.user.is_superuser:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return guarded


class DashboardAdmin(QueueAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser

    def get_urls(self) -> list[URLPattern | URLResolver]:
        urls: list[URLPattern | URLResolver] = super().get_urls()
        for pattern in urls:
            if isinstance(pattern, URLPattern) and pattern.name not in READ_ONLY:
                pattern.callback = superusers_only(pattern.callback)
        return urls


admin.site.unregister(Dashboard)
admin.site.register(Dashboard, DashboardAdmin)
