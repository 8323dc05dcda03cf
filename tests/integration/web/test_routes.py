"""Routes beyond the recorded cases: workspaces, paths, methods, conditions of the service."""

import gzip
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from core.ids import new_task_id
from core.workspaces import Workspaces
from events.connect import connect
from jobs.registry import WorkerRegistry
from memlane.embedded import EmbeddedRedis
from tests.support.lane_driver import LaneDriver
from tests.support.web_server import AUTHORIZED, WebServer, running_web

REMEMBER = "/workspace/memory/remember"


def test_a_workspace_is_named_by_id_or_by_encoded_path(web: WebServer, workspaces: Workspaces) -> None:
    second = list(workspaces)[1]

    for selector in (second.id, quote(second.path, safe="")):
        answer = web.post(f"/workspaces/{selector}/memory/remember", {"content": "x"})
        assert answer.status == 202
        assert answer.json["workspaceId"] == second.id
        assert (
            answer.headers["location"] == f"/workspaces/{second.id}/memory/remember/{answer.json['taskId']}"
        )
        assert web.request("GET", answer.headers["location"]).status == 200


def test_both_kinds_of_route_share_the_primary_lane(web: WebServer, workspaces: Workspaces) -> None:
    task = web.post(REMEMBER, {"content": "x"}).json

    answer = web.request("GET", f"/workspaces/{workspaces.primary.id}/memory/remember/{task['taskId']}")

    assert answer.json["taskId"] == task["taskId"]


def test_a_task_is_not_visible_in_another_workspace(web: WebServer, workspaces: Workspaces) -> None:
    task = web.post(REMEMBER, {"content": "x"}).json
    elsewhere = f"/workspaces/{list(workspaces)[1].id}/memory/remember"

    hidden = web.request("GET", f"{elsewhere}/{task['taskId']}")
    unknown = web.request("GET", f"{elsewhere}/{new_task_id('remember')}")

    assert hidden.status == 404
    assert hidden.raw == unknown.raw


@pytest.mark.parametrize(
    ("selector", "facts"),
    [
        ("nope", {"error": "`:workspace` must decode to a workspace id or absolute path"}),
        (
            "%2Fetc",
            {
                "error": "Workspace mismatch: the requested workspace is not registered with this daemon.",
                "workspaceCount": 2,
            },
        ),
    ],
)
def test_an_unknown_workspace_is_a_mismatch(web: WebServer, selector: str, facts: dict[str, object]) -> None:
    for answer in (
        web.post(f"/workspaces/{selector}/memory/remember", {}),
        web.request("GET", f"/workspaces/{selector}/memory/remember/x"),
        web.request("GET", f"/workspaces/{selector}/events"),
    ):
        assert answer.status == 400
        assert answer.json == {**facts, "code": "workspace_mismatch"}


@pytest.mark.parametrize("path", [f"{REMEMBER}/%", f"{REMEMBER}/%zz", "/workspaces/%ff/events"])
def test_a_broken_escape_is_refused(web: WebServer, path: str) -> None:
    answer = web.request("GET", path)

    assert answer.status == 400
    assert answer.json == {"error": "Malformed URL encoding", "code": "invalid_request"}


def test_a_trailing_slash_is_accepted_without_a_redirect(web: WebServer) -> None:
    answer = web.post(f"{REMEMBER}/", {"content": ""})

    assert answer.json["code"] == "invalid_content"
    assert web.request("GET", "/health/", headers={}).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/Workspace/memory/remember",
        "/workspace/memory/remembe%72",
        "/workspace//memory/remember",
        "/workspace/memory/learn",
        "/nope",
    ],
)
def test_any_other_path_is_not_found(web: WebServer, path: str) -> None:
    answer = web.post(path, {"content": "x"})

    assert (answer.status, answer.json["code"]) == (404, "not_found")


def test_other_methods_are_told_which_there_are(web: WebServer) -> None:
    answer = web.request("DELETE", REMEMBER)

    assert (answer.status, answer.json["code"]) == (405, "method_not_allowed")
    assert set(answer.headers["allow"].split(", ")) == {"POST", "OPTIONS"}


def test_head_answers_like_get_without_a_body(web: WebServer) -> None:
    answer = web.request("HEAD", "/capabilities")

    assert (answer.status, answer.raw) == (200, b"")


@pytest.mark.parametrize("client_id", ["client_nope", "x" * 128])
def test_a_client_id_must_be_registered(web: WebServer, client_id: str) -> None:
    headers = {**AUTHORIZED, "X-Qwen-Client-Id": client_id, "Content-Type": "application/json"}

    for answer in (
        web.request("POST", REMEMBER, headers=headers, body=b'{"content":"x"}'),
        web.request("GET", f"{REMEMBER}/remember-none", headers=headers),
    ):
        assert answer.status == 400
        assert answer.json == {
            "error": f'Client id "{client_id}" is not registered for this workspace',
            "code": "invalid_client_id",
            "clientId": client_id,
        }


@pytest.mark.parametrize("client_id", ["a b", "x" * 129, "ä", "a/b"])
def test_a_malformed_client_id_is_not_repeated(web: WebServer, client_id: str) -> None:
    answer = web.request(
        "GET", f"{REMEMBER}/remember-none", headers={**AUTHORIZED, "X-Qwen-Client-Id": client_id}
    )

    assert answer.status == 400
    assert answer.json == {
        "error": "`X-Qwen-Client-Id` must be a non-empty token of 128 characters or fewer",
        "code": "invalid_client_id",
    }


def test_an_empty_client_id_counts_as_absent(web: WebServer) -> None:
    answer = web.request("GET", f"{REMEMBER}/remember-none", headers={**AUTHORIZED, "X-Qwen-Client-Id": ""})

    assert answer.json["code"] == "remember_task_not_found"


def test_a_task_that_has_not_changed_is_not_sent_again(web: WebServer) -> None:
    location = web.post(REMEMBER, {"content": "x"}).headers["location"]
    etag = web.request("GET", location).headers["etag"]

    answer = web.request("GET", location, headers={**AUTHORIZED, "If-None-Match": etag})

    assert (answer.status, answer.raw) == (304, b"")


def test_a_failed_task_shows_why(web: WebServer, lane: LaneDriver) -> None:
    task_id = web.post(REMEMBER, {"content": "x"}).json["taskId"]
    lane.fail(task_id, "remember_no_update", "Remember agent did not update any memory.")

    task = web.request("GET", f"{REMEMBER}/{task_id}").json

    assert (task["status"], task["outcome"], task["attempt"]) == ("failed", "failed", 1)
    assert task["error"] == {
        "code": "remember_no_update",
        "message": "Remember agent did not update any memory.",
    }
    assert "result" not in task


def test_capabilities_list_what_works(web: WebServer, workspaces: Workspaces) -> None:
    shown = web.request("GET", "/capabilities").json

    assert shown["v"] == 1
    kinds = ("remember", "forget", "dream")
    assert {f"workspace_memory_{kind}" for kind in kinds} <= set(shown["features"])
    sessions = {"session_create", "session_scope_override", "session_events", "session_close"}
    assert sessions | {"client_identity", "client_heartbeat", "slow_client_warning"} <= set(shown["features"])
    assert shown["featureDetails"]["workspace_memory_remember"]["modes"] == ["workspace", "clean"]
    assert shown["workspaceCwd"] == workspaces.primary.path
    assert [entry["id"] for entry in shown["workspaces"]] == [workspace.id for workspace in workspaces]
    assert [entry["primary"] for entry in shown["workspaces"]] == [True, False]


def test_capabilities_name_the_models_of_the_workers(web: WebServer, redis_url: str) -> None:
    registry = WorkerRegistry(connect(redis_url))
    registry.announce("worker-1", {"model": "offline"}, {})

    assert "offline" in web.request("GET", "/capabilities").json["models"]


def test_a_compressed_body_is_read(web: WebServer) -> None:
    headers = {**AUTHORIZED, "Content-Type": "application/json", "Content-Encoding": "gzip"}

    answer = web.request("POST", REMEMBER, headers=headers, body=gzip.compress(b'{"content":"x"}'))

    assert answer.status == 202


def test_the_body_of_a_stranger_is_not_read_on_open_routes(web: WebServer) -> None:
    answer = web.request("GET", "/health", headers={"Content-Type": "application/json"}, body=b"{")

    assert answer.status == 200


def test_a_full_lane_says_when_to_come_back(redis_url: str, tmp_path: Path) -> None:
    with running_web(redis_url, [tmp_path], folder=tmp_path) as web:
        for _ in range(16):
            assert web.post(REMEMBER, {"content": "x"}).status == 202

        answer = web.post(REMEMBER, {"content": "x"})

    assert answer.status == 429
    assert answer.json == {"error": "Workspace memory remember queue is full.", "code": "remember_queue_full"}
    assert int(answer.headers["retry-after"]) >= 1


def test_memory_that_no_worker_can_use_is_unavailable(own_redis: EmbeddedRedis, tmp_path: Path) -> None:
    workspace = Workspaces([str(tmp_path)]).primary
    registry = WorkerRegistry(connect(own_redis.state_url))
    registry.announce("worker-1", {"pid": "1"}, {workspace.id: False})

    with running_web(own_redis.state_url, [tmp_path], folder=tmp_path) as web:
        refused = web.post(REMEMBER, {"content": "x"})
        invalid = web.post(REMEMBER, {"content": ""})

    assert refused.status == 409
    assert refused.json == {
        "error": "Managed memory is unavailable for this daemon workspace",
        "code": "managed_memory_unavailable",
    }
    assert invalid.json["code"] == "invalid_content"


def test_without_storage_the_service_is_alive_and_not_ready(own_redis: EmbeddedRedis, tmp_path: Path) -> None:
    with running_web(own_redis.state_url, [tmp_path], folder=tmp_path) as web:
        assert web.request("GET", "/health/ready", headers={}).status == 200
        own_redis.stop()

        ready = web.request("GET", "/health/ready", headers={})
        submitted = web.post(REMEMBER, {"content": "x"})

        assert "models" not in web.request("GET", "/capabilities").json
        assert web.request("GET", "/health/live", headers={}).json == {"status": "ok"}
    assert (ready.status, ready.json) == (503, {"error": "Not ready", "code": "not_ready"})
    assert (submitted.status, submitted.json["code"]) == (503, "storage_unavailable")
    assert int(submitted.headers["retry-after"]) >= 1
    assert "redis" not in json.dumps(submitted.json).lower()


def test_a_store_that_may_lose_tasks_is_not_ready(own_redis: EmbeddedRedis, tmp_path: Path) -> None:
    connect(own_redis.state_url).config_set("appendonly", "no")

    with running_web(own_redis.state_url, [tmp_path], folder=tmp_path) as web:
        assert web.request("GET", "/health/ready", headers={}).status == 503


def test_settings_name_further_hosts(web: WebServer) -> None:
    assert web.request("GET", "/health", headers={"Host": "memlane.example"}).status == 200
    assert web.request("GET", "/health", headers={"Host": "other.example"}).status == 403
