"""`memlane ops`."""

import json

import pytest

from tests.support.command_line import run
from tests.support.scripted_service import Reply, scripted_service

LANE = {
    "workspaceId": "0123456789abcdef",
    "cwd": "/srv/heron",
    "depth": 2,
    "oldestAgeMs": 5_500,
    "running": {"taskId": "dream-1", "kind": "dream", "attempt": 1},
    "lease": {"owner": "w", "since": "2026-01-01T00:00:00.000Z", "expires": "2026-01-01T00:00:08.000Z"},
    "held": True,
}
IDLE = LANE | {"depth": 0, "oldestAgeMs": None, "running": None, "lease": None, "held": False}
WORKER = {"workerId": "w", "host": "h", "pid": 7, "threads": 8, "model": "offline", "deployment": ""}
CHANNEL = {
    "name": "team",
    "type": "telegram",
    "workspaceId": "0123456789abcdef",
    "state": "unhealthy",
    "since": "2026-01-01T00:00:00.000Z",
    "reason": "another process polls \x1bthis bot",
    "process": "h:7",
    "waiting": 3,
}
ACT = {
    "at": "2026-01-01T00:00:00.000Z",
    "token": "ci",
    "action": "list_lanes",
    "target": "/ops/\x1blanes",
    "status": 403,
    "outcome": "refused",
    "code": "forbidden",
}


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("MEMLANE_TOKEN", "secret")


def test_lanes_are_shown_one_a_line(capsys):
    with scripted_service([Reply(200, {"lanes": [LANE, IDLE]})]) as service:
        assert run("ops", "lanes", "--url", service.url) == 0

    assert capsys.readouterr().out.splitlines() == [
        "0123456789abcdef  /srv/heron  runs dream-1, attempt 1  2 queued for 5 s  held",
        "0123456789abcdef  /srv/heron  idle  0 queued",
    ]


def test_channels_are_shown_with_what_keeps_them_from_hearing(capsys):
    unserved = CHANNEL | {"state": "unserved", "since": None, "reason": None, "waiting": 0}
    with scripted_service([Reply(200, {"channels": [CHANNEL, unserved]})]) as service:
        assert run("ops", "channels", "--url", service.url) == 0

    deaf, other = capsys.readouterr().out.splitlines()
    assert deaf.startswith("team  telegram  0123456789abcdef  unhealthy since 20")
    assert deaf.endswith("3 waiting  another process polls  this bot")
    assert other == "team  telegram  0123456789abcdef  unserved  0 waiting"


def test_that_there_are_no_channels_is_said(capsys):
    with scripted_service([Reply(200, {"channels": []})]) as service:
        assert run("ops", "channels", "--url", service.url) == 0

    assert capsys.readouterr().out == "no channel is configured\n"


@pytest.mark.parametrize("action", ["hold", "unhold"])
def test_a_lane_is_held_and_let_go_by_its_path(capsys, action):
    with scripted_service([Reply(200, LANE)]) as service:
        assert run("ops", action, "/srv/heron", "--url", service.url, "--json") == 0

    assert service.requests[0].path == f"/ops/lanes/%2Fsrv%2Fheron/{action}"
    assert json.loads(capsys.readouterr().out)["workspaceId"] == LANE["workspaceId"]


def test_workers_are_shown_or_that_there_are_none(capsys):
    with scripted_service([Reply(200, {"workers": [WORKER]}), Reply(200, {"workers": []})]) as service:
        assert run("ops", "workers", "--url", service.url) == 0
        assert run("ops", "workers", "--url", service.url) == 0

    assert capsys.readouterr().out == "w  h:7  8 threads  offline\nno worker lives\n"


def test_the_audit_is_shown_without_what_steers_a_terminal(capsys):
    with scripted_service([Reply(200, {"entries": [ACT, ACT], "nextCursor": None})]) as service:
        assert run("ops", "audit", "--refused", "--limit", "1", "--url", service.url) == 0

    assert "outcome=refused" in service.requests[0].path
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("  ci  list_lanes  403 forbidden  /ops/ lanes")


def test_a_token_without_the_role_is_told_so(capsys):
    refusal = Reply(403, {"error": "This token may not do that", "code": "forbidden"})
    with scripted_service([refusal]) as service:
        assert run("ops", "lanes", "--url", service.url) == 2

    assert "This token may not do that" in capsys.readouterr().err
