"""What the SDK has for operators."""

import pytest

from memlane.errors import Forbidden
from tests.support.scripted_client import client_of
from tests.support.scripted_service import Reply

MOMENT = "2026-01-01T00:00:00.000Z"
LANE = {
    "workspaceId": "0295621f3cf988a7",
    "cwd": "/srv/ws",
    "depth": 2,
    "oldestAgeMs": 5,
    "running": {"taskId": "dream-1", "kind": "dream", "attempt": 1},
    "lease": {"owner": "w1", "since": MOMENT, "expires": MOMENT},
    "held": True,
}
IDLE = LANE | {"depth": 0, "oldestAgeMs": None, "running": None, "lease": None, "held": False}


def act(target: str) -> dict[str, object]:
    return {
        "at": MOMENT,
        "token": "ci",
        "action": "undo",
        "target": target,
        "status": 202,
        "outcome": "done",
        "code": None,
    }


def test_lanes_are_seen_busy_and_idle():
    with client_of(Reply(200, {"lanes": [LANE, IDLE]})) as (client, service):
        busy, idle = client.operators.lanes()

    assert busy.running is not None
    assert (busy.held, busy.depth, busy.running.task_id) == (True, 2, "dream-1")
    assert (idle.running, idle.lease, idle.oldest_age_ms) == (None, None, None)
    assert service.requests[0].path == "/ops/lanes"


@pytest.mark.parametrize("action", ["hold", "unhold"])
def test_a_lane_is_held_and_let_go(action):
    with client_of(Reply(503, {}), Reply(200, LANE), retry_s=5) as (client, service):
        lane = getattr(client.operators, action)("/srv/ws")

    assert lane.workspace_id == "0295621f3cf988a7"
    path = f"/ops/lanes/%2Fsrv%2Fws/{action}"
    assert [(seen.method, seen.path) for seen in service.requests] == [("POST", path)] * 2


def test_workers_and_counters_are_seen():
    worker = {"workerId": "w1", "host": "a", "pid": 7, "threads": 8, "model": "offline", "expires": MOMENT}
    stats = {"counters": {"completed": 3}, "waitingLanes": 1, "oldestWaitMs": 20}
    with client_of(Reply(200, {"workers": [worker]}), Reply(200, stats)) as (client, service):
        (found,), told = client.operators.workers(), client.operators.stats()

    assert (found.worker_id, found.threads) == ("w1", 8)
    assert (told.counters, told.waiting_lanes) == ({"completed": 3}, 1)
    assert [seen.path for seen in service.requests] == ["/ops/workers", "/ops/stats"]


def test_channels_are_seen():
    channel = {"name": "team", "type": "slack", "workspaceId": "w1", "state": "connected", "since": MOMENT}
    with client_of(Reply(200, {"channels": [channel]})) as (client, service):
        (found,) = client.operators.channels()

    assert (found.name, found.state, found.reason, found.waiting) == ("team", "connected", None, 0)
    assert service.requests[0].path == "/ops/channels"


def test_the_audit_is_fetched_page_by_page():
    pages = [{"entries": [act("a")], "nextCursor": "7-0"}, {"entries": [act("b")], "nextCursor": None}]
    with client_of(*(Reply(200, page) for page in pages)) as (client, service):
        assert [one.target for one in client.operators.audit("refused")] == ["a", "b"]

    path = "/ops/audit?outcome=refused&limit=200"
    assert [seen.path for seen in service.requests] == [path, f"{path}&cursor=7-0"]


def test_a_token_without_the_role_is_told_so():
    with client_of(Reply(403, {"code": "forbidden"})) as (client, _), pytest.raises(Forbidden):
        client.operators.lanes()
