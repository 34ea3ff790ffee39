import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "animastor_site.settings")

application = get_asgi_application()

# Only after the applications are loaded: a web server on another storage would show nothing and must not start.
from generation.store import verify_identity  # noqa: E402

verify_identity()
