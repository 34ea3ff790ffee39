"""What an operator hears and sees in the admin."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from dispatch.rendering.narration import sound
from generation import store
from generation.cues import Cue, to_vtt
from generation.models import Artifact, ArtifactFile, Asset
from tests.doubles.films import mp4
from tests.doubles.sounds import RATE, tone
from tests.factories.books import make_book

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

LENGTH_S = 30
CONTENT = {
    "audio": ("audio/mpeg", lambda: sound.encode_mp3(tone(LENGTH_S), RATE)),
    "video": ("video/mp4", lambda: mp4(LENGTH_S, 960, 540)),
}
# Where Chromium draws what is clicked on, from the middle of the player, in pixels.
PLAY = {"audio": (-123, 0), "video": (-120, 33)}
MIDDLE_OF_THE_LINE = (0, 59)


def publish(stage) -> Asset:
    asset = make_book(scenes=1).assets.get(stage=stage)
    content_type, content = CONTENT[stage]
    artifact = Artifact.objects.create(
        asset=asset, version=1, dispatch_id="d" * 32, content_version=1, audio_config_version=1
    )
    for role, kind, body in (
        ("main", content_type, content()),
        ("subtitles", "text/vtt", to_vtt([Cue("Call me Ishmael.", 14, 20)])),
    ):
        stored = store.save(asset.pk, "d" * 32, "0001", role, kind, body)
        ArtifactFile.objects.create(artifact=artifact, **stored.as_json())
    Asset.objects.filter(pk=asset.pk).update(state="ready", published=artifact)
    return asset


# Enough to play, not to load what lies before the middle while a click waits for it.
BYTES_PER_SECOND = 4_500_000
PATIENCE_S = 30
SEEKING_S = 8


def until(browser, script, *arguments, within=PATIENCE_S):
    return WebDriverWait(browser, within).until(lambda it: it.execute_script(f"return {script}", *arguments))


def click(browser, player, place) -> None:
    ActionChains(browser).move_to_element_with_offset(player, *place).click().perform()


def played(browser, live_server, stage):
    """Publish a result, open the page and press play."""
    publish(stage)
    browser.get(f"{live_server.url}/admin/generation/asset/?stage__exact={stage}")
    browser.set_network_conditions(
        latency=1, download_throughput=BYTES_PER_SECOND, upload_throughput=BYTES_PER_SECOND, offline=False
    )
    player = browser.find_element(By.CSS_SELECTOR, stage)
    assert player.get_property("readyState") == 0  # nothing is loaded before somebody asks
    click(browser, player, PLAY[stage])
    until(browser, "arguments[0].currentTime > 0.2", player)
    assert player.get_property("currentTime") < 10
    return player


def test_seeking_a_video_by_a_click_plays_on_from_there(signed_in, live_server):
    player = played(signed_in, live_server, "video")
    click(signed_in, player, MIDDLE_OF_THE_LINE)
    until(signed_in, "arguments[0].currentTime > 10", player)
    assert 13 < player.get_property("currentTime") < 20
    until(signed_in, "!arguments[0].seeking && !arguments[0].paused", player, within=SEEKING_S)
    cues = until(signed_in, "arguments[0].textTracks[0].cues && arguments[0].textTracks[0].cues.length", player)
    assert cues == 1
    assert player.get_property("error") is None


def test_a_narration_can_be_sought(signed_in, live_server):
    player = played(signed_in, live_server, "audio")
    signed_in.execute_script("arguments[0].currentTime = 15", player)
    until(signed_in, "!arguments[0].seeking && arguments[0].currentTime >= 15", player)
    assert player.get_property("currentTime") < 18


def test_the_page_logs_no_error(signed_in, live_server):
    publish("video")
    signed_in.get(f"{live_server.url}/admin/generation/asset/")
    assert [entry for entry in signed_in.get_log("browser") if entry["level"] == "SEVERE"] == []
