from core.ids import WorkspaceId
from events.connect import connect
from memlane.backlog import Backlog
from tests.support.lane import LaneUnderTest


def test_what_waits_at_the_end_is_told(own_redis):
    with connect(own_redis.state_url) as client:
        lane = LaneUnderTest(client)
        backlog = Backlog(own_redis.state_url, [lane.workspace])

        said = [backlog.farewell()]
        for submit in (False, True, True):
            if submit:
                lane.submit()
            backlog.count()
            said.append(backlog.farewell())

    assert said == [
        "stopped\n",
        "stopped; no tasks wait for the next start\n",
        "stopped; 1 task waits for the next start\n",
        "stopped; 2 tasks wait for the next start\n",
    ]


def test_without_redis_nothing_is_told(own_redis):
    backlog = Backlog(own_redis.state_url, [WorkspaceId("0295621f3cf988a7")])
    own_redis.stop()

    backlog.count()

    assert backlog.farewell() == "stopped\n"
