"""The one settings file. Every deployment difference is an environment variable, read and checked here."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
import django_stubs_ext
from django.core.exceptions import ImproperlyConfigured

from animastor_site.embedded.layout import layout_for
from animastor_site.embedded.postgres import DATABASE, USER
from animastor_site.env import env_bool, env_int, env_list, env_path, env_secret, env_str

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
DEBUG = env_bool("DEBUG", default=False)
STATE_DIR = env_path("ANIMASTOR_STATE_DIR", BASE_DIR / "var")
# A site without a database of its own is a workstation: it gets local hosts, plain cookies and a generated secret.
DATABASE_URL = env_str("DATABASE_URL", "")
LOCAL = not DATABASE_URL

SECRET_KEY = env_secret("SECRET_KEY", STATE_DIR / "secret-key" if LOCAL else None)
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"] if LOCAL else [])
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS", [])

# Embedded servers (docs/adr/001): each URL that is set switches its half off.
REDIS_URL = env_str("REDIS_URL", "")
EMBEDDED_POSTGRES = not DATABASE_URL
EMBEDDED_VALKEY = not REDIS_URL
EMBEDDED_STATE = STATE_DIR / "servers"

if EMBEDDED_POSTGRES:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": DATABASE,
            "USER": USER,
            "HOST": str(layout_for(EMBEDDED_STATE).sockets),
            "PORT": "5432",
        }
    }
else:
    DATABASES = {"default": dj_database_url.parse(DATABASE_URL, conn_health_checks=True)}  # type: ignore[dict-item]
    if DATABASES["default"].get("ENGINE") != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL must name a PostgreSQL database (postgres://…).")
DATABASES["default"]["CONN_MAX_AGE"] = env_int("CONN_MAX_AGE_S", 60)  # type: ignore[assignment]
# A process that is stopped inside a transaction holds its row locks: PostgreSQL ends its session after this long.
DATABASES["default"]["OPTIONS"] = {  # type: ignore[assignment]
    "options": f"-c idle_in_transaction_session_timeout={env_int('DB_IDLE_IN_TRANSACTION_S', 30)}s"
}

if EMBEDDED_VALKEY:
    REDIS_URL = f"unix://{layout_for(EMBEDDED_STATE).valkey_socket}?db={env_int('ANIMASTOR_REDIS_DB', 0)}"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    # Before django_rq: its rqcron command builds queues that pickle; ours replaces it.
    "dispatch",
    "generation",
    "animastor_site.embedded",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_rq",
]

MIDDLEWARE = [
    "animastor_site.middleware.refuse_null_characters",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "animastor_site.urls"
WSGI_APPLICATION = "animastor_site.wsgi.application"
ASGI_APPLICATION = "animastor_site.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "admin:login"

LANGUAGE_CODE = "en-us"
TIME_ZONE = env_str("TIME_ZONE", "UTC")
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = STATE_DIR / "static"
# A workstation serves static files where they lie; a deployment runs collectstatic.
WHITENOISE_USE_FINDERS = LOCAL
if LOCAL:
    STATIC_ROOT.mkdir(parents=True, exist_ok=True)
# Artifacts are written once under names that are never reused; nothing else may live in this store.
ARTIFACT_ROOT = env_path("ARTIFACT_ROOT", STATE_DIR / "artifacts")
# With nginx in front: the internal location that holds ARTIFACT_ROOT. It then sends the files, we only allow it.
ARTIFACT_ACCEL_PREFIX = env_str("ARTIFACT_ACCEL_PREFIX", "")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "artifacts": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": ARTIFACT_ROOT, "base_url": None},
    },
}

QUEUES = ("tick", "assembly", "gpu-audio", "gpu-image", "gpu-video")
RQ_QUEUES = {
    name: {"URL": REDIS_URL, "SERIALIZER": "rq.serializers.JSONSerializer", "DEFAULT_TIMEOUT": 600} for name in QUEUES
}
# COMMIT_MODE auto: enqueue returns the job; what must wait for a commit says so with transaction.on_commit.
RQ = {"COMMIT_MODE": "auto", "WORKER_CLASS": "dispatch.worker.Worker"}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["generation.api.access.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated", "generation.api.access.MayView"],
    "DEFAULT_PARSER_CLASSES": ["generation.api.access.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_RATES": {"login": "10/min"},
    # Whom a limit is for: the address a proxy of ours saw, never what a client says of itself.
    "NUM_PROXIES": 1 if env_bool("BEHIND_PROXY", default=False) else 0,
    "EXCEPTION_HANDLER": "generation.api.errors.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Animastor",
    "VERSION": "1",
    "DESCRIPTION": "Books, commands on them, and what comes of it. Nothing is generated without a command.",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    # Served by us: no page of ours asks another host.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "generation.api.errors.add_to_schema",
    ],
}

# Tunables of the dispatch floor; dispatch/config.py reads and documents them, SPEC §6 gives the numbers.
ANIMASTOR: dict[str, Any] = {
    "tick_interval": timedelta(seconds=env_int("ANIMASTOR_TICK_INTERVAL_S", 5)),
    "hub": env_str("ANIMASTOR_HUB", "rq"),
    "video_profile": env_str("ANIMASTOR_VIDEO_PROFILE", "standard"),
}

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env_bool("COOKIES_SECURE", default=not LOCAL)
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env_bool("BEHIND_PROXY", default=False) else None

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        name: {"handlers": ["stderr"], "level": env_str("LOG_LEVEL", "INFO"), "propagate": False}
        for name in ("animastor_site", "generation", "dispatch")
    },
}
