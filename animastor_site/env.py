"""Typed readers of environment variables. A value that cannot be read stops the start and names the variable."""

import contextlib
import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}


def env_str(name: str, default: str | None = None) -> str:
    value = os.environ.get(name, "").strip()
    if value:
        return value
    if default is None:
        raise ImproperlyConfigured(f"Set the environment variable {name}.")
    return default


def env_bool(name: str, default: bool) -> bool:
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise ImproperlyConfigured(f"{name}={value!r} is not a yes or no; use 1 or 0.")


def env_int(name: str, default: int) -> int:
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    try:
        return int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number.") from None


def env_list(name: str, default: list[str]) -> list[str]:
    """Read a comma-separated list; blanks around items and empty items are dropped."""
    value = os.environ.get(name, "")
    items = [item.strip() for item in value.split(",") if item.strip()]
    return items or default


def env_path(name: str, default: Path) -> Path:
    value = os.environ.get(name, "").strip()
    return Path(value).expanduser().resolve() if value else default


def env_secret(name: str, generated: Path | None) -> str:
    """Read a secret; without one, keep a random one in the file `generated`. None for `generated` demands the variable.

    The file is written under a name of its own and linked, so that two first starts agree on one secret.
    """
    value = os.environ.get(name, "").strip()
    if value or generated is None:
        return env_str(name)
    if not generated.exists():
        generated.parent.mkdir(parents=True, exist_ok=True)
        draft = generated.with_name(f"{generated.name}.{secrets.token_hex(8)}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(50))
        with contextlib.suppress(FileExistsError):
            os.link(draft, generated)
        draft.unlink()
    try:
        return generated.read_text().strip()
    except PermissionError:
        raise ImproperlyConfigured(f"{generated} belongs to another user. Set {name}.") from None
