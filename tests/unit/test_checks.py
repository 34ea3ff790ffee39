from datetime import timedelta

import pytest

from dispatch.checks import check_numbers


@pytest.mark.parametrize(
    ("tunables", "code"),
    [
        ({"capacity_deferral": timedelta(0)}, "dispatch.E001"),
        ({"fenced_deferral": timedelta(seconds=60)}, "dispatch.E001"),
        ({"worker_beat_ttl": timedelta(seconds=60)}, "dispatch.E002"),
        ({"tick_interval": timedelta(seconds=10)}, "dispatch.E003"),
        ({"video_profile": "cinema"}, "dispatch.E006"),
        ({"retries_by_type": {"permanant": 1}}, "dispatch.E007"),
        ({"retries_by_type": {"transient": -1}}, "dispatch.E008"),
        ({"retries_of_worker": -1}, "dispatch.E008"),
        ({"circuit_tests": 0}, "dispatch.E009"),
        ({"circuit_failures": 0}, "dispatch.E009"),
        ({"circuit_open": timedelta(0)}, "dispatch.E009"),
    ],
)
def test_numbers_that_contradict_each_other_stop_the_start(settings, tunables, code):
    settings.ANIMASTOR = tunables
    assert [message.id for message in check_numbers()] == [code]


def test_the_defaults_hold_together():
    assert check_numbers() == []
