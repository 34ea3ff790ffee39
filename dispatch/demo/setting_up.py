"""Tables, an operator, and the sample book. Safe to repeat: a second start finds everything there."""

import secrets

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.db.models import Q

from generation.commands import import_book
from generation.commands.answers import Actor
from generation.importing.files import read_path
from generation.models import Book

SAMPLE = settings.BASE_DIR / "generation" / "fixtures" / "moby-dick.txt"
SAMPLE_KEY = "moby-dick"
OPERATOR = "operator"
OPERATORS = "Operators"
COMMANDS = (
    "add_book",
    "operate_book",
    "stop_book",
    "change_stageconfig",
    "configure_layers",
    "change_scene",
    "delete_scene",
    "delete_chapter",
    "delete_book",
)


def migrate() -> None:
    call_command("migrate", interactive=False, verbosity=0)


def ensure_operator() -> tuple[str, str]:
    """Return name and password of the demonstration's operator; both stay the same from start to start."""
    file = settings.STATE_DIR / "operator-password"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(9))
    password = file.read_text()
    user, _ = get_user_model().objects.get_or_create(username=OPERATOR, defaults={"is_staff": True})
    if not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
    user.groups.add(_operators())
    return OPERATOR, password


def ensure_sample() -> Book:
    book = Book.objects.filter(key=SAMPLE_KEY).first()
    if book is None:
        asked = import_book.Request(read_path(SAMPLE), SAMPLE_KEY)
        book = Book.objects.get(pk=import_book.apply(asked, Actor("demo"))["book"])
    return book


def _operators() -> Group:
    """Operators see everything of ours and give commands; users, quotas and RQ's own pages are for administrators."""
    group, _ = Group.objects.get_or_create(name=OPERATORS)
    ours = Q(content_type__app_label__in=["generation", "dispatch"])
    wanted = Permission.objects.filter(ours & (Q(codename__startswith="view_") | Q(codename__in=COMMANDS)))
    group.permissions.add(*wanted)
    return group
