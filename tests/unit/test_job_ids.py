import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatch.hubs.job_ids import job_id
from dispatch.hubs.rq.keys import rq_job_id
from dispatch.rendering.registry import units_of
from generation.stages import StageName

GRAMMAR = {
    StageName.AUDIO: r"b\d+_c\d+_s\d+_\d{4}:audio",
    StageName.IMAGE: r"b\d+_c\d+_s\d+_iu-\d+:iu_image",
    StageName.VIDEO: r"b\d+_c\d+_s\d+(_g\d+)?:video",
}
PKS = st.integers(min_value=1, max_value=2**63 - 1)


@pytest.mark.parametrize("stage", StageName)
@given(PKS, PKS, PKS)
def test_every_job_id_fits_the_grammar_and_becomes_an_rq_id(stage, book, chapter, scene):
    for unit in units_of(stage, scene, "A sentence to be spoken. " * 100):
        name = job_id(stage, book, chapter, scene, unit.name)
        assert re.fullmatch(GRAMMAR[stage], name)
        assert re.fullmatch(r"[A-Za-z0-9_-]+", rq_job_id("f" * 32, name))
