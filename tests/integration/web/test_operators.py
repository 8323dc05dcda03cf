"""What operators see of lanes and workers, and what they do to lanes."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from core.workspaces import Workspaces
from events.chat.board import KnownChannel
from events.chat.store import ChannelStore
from events.connect import connect
from jobs.registry import WorkerRegistry
from tests.support.callers import OWNER, Caller, keyring_of, named
from tests.support.lane_driver import LaneDriver
from tests.support.web_app import application


@pytest.fixture(scope="module")
def second(workspaces: Workspaces) -> Caller:
    """An operator of the second workspace only."""
    _, workspace = workspaces
    return named("second", role="operator", workspaces=frozenset({workspace.id}))


@pytest.fixture(scope="module")
def app(redis_url: str, workspaces: Workspaces, second: Caller) -> Iterator[Flask]:
    channels = [
        KnownChannel(name, "webhook", workspace.id)
        for name, workspace in zip(("first", "second"), workspaces, strict=True)
    ]
    with application(redis_url, workspaces, keyring=keyring_of(second), channels=channels) as made:
        yield made


def ask(app: Flask, method: str, path: str, caller: Caller = OWNER, **sent: Any) -> Any:
    return app.test_client().open(path, method=method, headers=caller.headers, **sent)


def test_lanes_show_what_runs_what_waits_and_who_is_at_it(
    app: Flask, workspaces: Workspaces, lane: LaneDriver
) -> None:
    queued = [
        ask(app, "POST", "/workspace/memory/remember", json={"content": "a fact"}).get_json()["taskId"]
        for _ in range(2)
    ]
    lane.start(queued[0])

    body = ask(app, "GET", "/ops/lanes").get_json()

    first, other = body["lanes"]
    assert (first["workspaceId"], first["cwd"]) == (workspaces.primary.id, workspaces.primary.path)
    assert first["running"] == {"taskId": queued[0], "kind": "remember", "attempt": 1}
    assert (first["depth"], first["held"]) == (1, False)
    assert first["oldestAgeMs"] >= 0
    assert first["lease"]["owner"]
    assert first["lease"]["expires"] > first["lease"]["since"]
    assert (other["depth"], other["oldestAgeMs"], other["running"], other["lease"]) == (0, None, None, None)


@pytest.mark.parametrize("spell", ["id", "path"])
def test_a_lane_is_held_and_let_go(app: Flask, workspaces: Workspaces, spell: str) -> None:
    workspace = workspaces.primary
    selector = workspace.id if spell == "id" else workspace.path.replace("/", "%2F")

    held = ask(app, "POST", f"/ops/lanes/{selector}/hold")
    shown = ask(app, "GET", "/ops/lanes").get_json()["lanes"][0]
    let_go = ask(app, "POST", f"/ops/lanes/{selector}/unhold")

    assert (held.status_code, held.get_json()["held"]) == (200, True)
    assert shown["held"] is True
    assert (let_go.status_code, let_go.get_json()["held"]) == (200, False)


def test_an_unknown_workspace_is_a_mismatch(app: Flask) -> None:
    answer = ask(app, "POST", f"/ops/lanes/{'0' * 16}/hold")

    assert (answer.status_code, answer.get_json()["code"]) == (400, "workspace_mismatch")


def test_a_limited_operator_sees_and_holds_its_own_lanes_only(
    app: Flask, workspaces: Workspaces, second: Caller
) -> None:
    first, own = workspaces

    lanes = ask(app, "GET", "/ops/lanes", second).get_json()["lanes"]
    refused = ask(app, "POST", f"/ops/lanes/{first.id}/hold", second)
    held = ask(app, "POST", f"/ops/lanes/{own.id}/hold", second)
    ask(app, "POST", f"/ops/lanes/{own.id}/unhold", second)

    assert [lane["workspaceId"] for lane in lanes] == [own.id]
    assert (refused.status_code, refused.get_json()["code"]) == (403, "forbidden")
    assert held.status_code == 200
    assert ask(app, "GET", "/ops/lanes").get_json()["lanes"][0]["held"] is False


def test_channels_show_whether_they_are_served_and_what_waits(
    app: Flask, redis_url: str, workspaces: Workspaces
) -> None:
    store = ChannelStore(connect(redis_url), workspaces.primary.id, "first")
    told = {"state": "unhealthy", "since": "1764547200000", "reason": "no answer", "process": "h:7"}
    store.claim("me", life_ms=60_000, told=told)
    store.put("{}", keys=["a"])

    served, other = ask(app, "GET", "/ops/channels").get_json()["channels"]

    assert served == {
        "name": "first",
        "type": "webhook",
        "workspaceId": workspaces.primary.id,
        "state": "unhealthy",
        "since": "2025-12-01T00:00:00.000Z",
        "reason": "no answer",
        "process": "h:7",
        "waiting": 1,
    }
    assert (other["name"], other["state"], other["since"], other["process"]) == (
        *("second", "unserved"),
        *(None, None),
    )


def test_channels_of_other_workspaces_are_not_shown(app: Flask, second: Caller) -> None:
    channels = ask(app, "GET", "/ops/channels", second).get_json()["channels"]

    assert [one["name"] for one in channels] == ["second"]


def test_workers_and_counters_are_shown(app: Flask, redis_url: str) -> None:
    registry = WorkerRegistry(connect(redis_url))
    facts = {"host": "h", "pid": "7", "threads": "8", "model": "offline", "deployment": "d"}
    registry.announce("worker-7", facts, {})
    ask(app, "POST", "/workspace/memory/remember", json={"content": "a fact"})

    workers = ask(app, "GET", "/ops/workers").get_json()["workers"]
    stats = ask(app, "GET", "/ops/stats").get_json()
    registry.retire("worker-7")

    (worker,) = [one for one in workers if one["workerId"] == "worker-7"]
    assert worker.pop("expires").endswith("Z")
    assert worker == {
        "workerId": "worker-7",
        "host": "h",
        "pid": 7,
        "threads": 8,
        "model": "offline",
        "deployment": "d",
    }
    assert stats.keys() == {"counters", "waitingLanes", "oldestWaitMs"}
    assert stats["counters"]["accepted:remember"] >= 1
