import pytest

from events.connect import connect
from jobs.lanes import Lanes
from tests.support.lane import LaneUnderTest, limits


@pytest.fixture
def lane(redis_url: str) -> LaneUnderTest:
    client = connect(redis_url)
    return LaneUnderTest(client, Lanes(client, limits()))
