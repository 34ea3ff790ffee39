"""A real browser before a real server. Without Chromium these tests are skipped; the gate installs it."""

import shutil
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from selenium import webdriver

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--mute-audio",
    "--window-size=1400,900",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = pytest.mark.skip(reason="needs Debian's packages chromium and chromium-driver")
    for item in items:
        if "tests/browser/" in item.nodeid and not (CHROMIUM and DRIVER):
            item.add_marker(missing)


@pytest.fixture
def browser(tmp_path) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={tmp_path}"):
        options.add_argument(flag)
    options.binary_location = CHROMIUM or ""
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def signed_in(browser, live_server) -> webdriver.Chrome:
    """The browser, signed in as somebody who may see everything."""
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    browser.get(f"{live_server.url}/admin/login/")
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    browser.add_cookie({"name": settings.SESSION_COOKIE_NAME, "value": cookie, "path": "/"})
    return browser
