import stat

import pytest
from django.core.exceptions import ImproperlyConfigured

from animastor_site import env


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("Yes", True), ("off", False), ("", True)])
def test_a_yes_or_no_is_read_in_the_usual_spellings(monkeypatch, value, expected):
    monkeypatch.setenv("SWITCH", value)
    assert env.env_bool("SWITCH", default=True) is expected


@pytest.mark.parametrize(
    ("read", "value"),
    [(lambda: env.env_bool("NAME", default=True), "perhaps"), (lambda: env.env_int("NAME", 1), "many")],
)
def test_a_value_that_cannot_be_read_names_its_variable(monkeypatch, read, value):
    monkeypatch.setenv("NAME", value)
    with pytest.raises(ImproperlyConfigured, match="NAME"):
        read()


def test_a_missing_value_without_a_default_names_its_variable(monkeypatch):
    monkeypatch.delenv("NAME", raising=False)
    with pytest.raises(ImproperlyConfigured, match="Set the environment variable NAME"):
        env.env_str("NAME")


def test_a_list_drops_blanks_and_empty_items(monkeypatch):
    monkeypatch.setenv("NAME", " a, b ,,c")
    assert env.env_list("NAME", []) == ["a", "b", "c"]


def test_a_generated_secret_is_private_and_stays_the_same(monkeypatch, tmp_path):
    monkeypatch.delenv("SECRET", raising=False)
    file = tmp_path / "deep" / "secret"
    first = env.env_secret("SECRET", file)
    assert len(first) >= 50
    assert env.env_secret("SECRET", file) == first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_deployment_without_a_secret_does_not_start(monkeypatch):
    monkeypatch.delenv("SECRET", raising=False)
    with pytest.raises(ImproperlyConfigured, match="SECRET"):
        env.env_secret("SECRET", None)
