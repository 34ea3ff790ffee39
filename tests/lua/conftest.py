import pytest

from dispatch.capacity.leases import Fence
from generation.stages import STAGES, StageName


@pytest.fixture
def image():
    return STAGES[StageName.IMAGE]


@pytest.fixture
def fence() -> Fence:
    """A tick that nobody overtakes while the test's clock is below 10 000 s."""
    return Fence(number=1, valid_until_s=10_000.0)
