from django.contrib.auth.models import Permission, User

from generation.commands.answers import Actor


def operator_with(*permissions: str, name: str = "ada", active: bool = True) -> Actor:
    """Create an account with these permissions, as `app.codename`, and return it as an actor."""
    user = User.objects.create_user(name, is_staff=True, is_active=active)
    for permission in permissions:
        app, _, codename = permission.partition(".")
        user.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    return Actor.of(User.objects.get(pk=user.pk))
