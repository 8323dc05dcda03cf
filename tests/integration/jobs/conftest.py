import pytest

from events.connect import connect
from tests.support.lane import LaneUnderTest


@pytest.fixture
def lane(redis_url: str) -> LaneUnderTest:
    return LaneUnderTest(connect(redis_url))
