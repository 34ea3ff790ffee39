from django.contrib import admin
from django.http import HttpResponse
from django.urls import include, path
from django.views.generic import RedirectView

from dispatch import health
from generation.admin.files import artifact_file, book_cover, stand_in_file

admin.site.site_header = admin.site.site_title = "Animastor"
admin.site.index_title = "Books and production"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:generation_book_changelist"), name="home"),
    path("admin/", admin.site.urls),
    path("health/live", health.live, name="live"),
    path("health/ready", health.ready, name="ready"),
    # Whatever is not found in the first is looked for in the second, which refuses the rest.
    path("api/v1/", include("dispatch.api.urls")),
    path("api/v1/", include("generation.api.urls")),
    # Browsers ask for it with every first page; there is none.
    path("favicon.ico", lambda request: HttpResponse(status=204)),
    path("artifacts/<int:pk>/", artifact_file, name="artifact-file"),
    path("artifacts/covers/<int:pk>/", book_cover, name="book-cover"),
    path("artifacts/stand-ins/<int:pk>/", stand_in_file, name="stand-in-file"),
]
