import json
import socket
from datetime import UTC, datetime

import pytest

from core.errors import ConfigError
from memlane.client import Client
from memlane.errors import (
    Conflict,
    Forbidden,
    MemlaneApiError,
    NotFound,
    QueueFull,
    TryLater,
    Unauthorized,
    Unavailable,
    Unreachable,
    WaitTimeout,
)
from memlane.models import Event, Task
from tests.support.scripted_client import DONE, TASK, client_of
from tests.support.scripted_service import Reply, scripted_service


def test_remember_sends_what_was_asked_and_returns_the_task():
    with client_of(Reply(202, TASK)) as (client, service):
        task = client.remember("hello", context_mode="clean", scope="user")

    seen = service.requests[0]
    assert (seen.method, seen.path) == ("POST", "/workspace/memory/remember")
    assert json.loads(seen.body) == {"content": "hello", "contextMode": "clean", "scope": "user"}
    assert seen.headers["Authorization"] == "Bearer secret"
    assert (task.task_id, task.status, task.finished) == (TASK["taskId"], "queued", False)


def test_a_workspace_is_named_in_the_path():
    with client_of(Reply(202, TASK)) as (client, service):
        client.remember("hello", workspace="/srv/my ws")

    assert service.requests[0].path == "/workspaces/%2Fsrv%2Fmy%20ws/memory/remember"
    assert json.loads(service.requests[0].body) == {"content": "hello"}


@pytest.mark.parametrize(
    ("ask", "kind", "body"),
    [
        (lambda c: c.forget("tea", scope="user"), "forget", {"query": "tea", "scope": "user"}),
        (lambda c: c.forget("tea", dry_run=True), "forget", {"query": "tea", "dryRun": True}),
        (lambda c: c.dream(), "dream", {}),
        (lambda c: c.dream(scope="user", dry_run=True), "dream", {"scope": "user", "dryRun": True}),
        (lambda c: c.remember("tea", dry_run=True), "remember", {"content": "tea", "dryRun": True}),
    ],
)
def test_each_kind_of_task_is_asked_for_at_its_place(ask, kind, body):
    with client_of(Reply(202, TASK)) as (client, service):
        ask(client)

    assert service.requests[0].path == f"/workspace/memory/{kind}"
    assert json.loads(service.requests[0].body) == body


def test_a_preview_is_applied_at_its_own_task():
    with client_of(Reply(202, TASK)) as (client, service):
        client.apply("forget-1", workspace="0295621f3cf988a7")

    path = "/workspaces/0295621f3cf988a7/memory/forget/forget-1/apply"
    assert (service.requests[0].method, service.requests[0].path) == ("POST", path)


def test_a_task_is_cancelled_at_its_own_place():
    with client_of(Reply(202, TASK | {"cancelRequested": True})) as (client, service):
        task = client.cancel("undo-1")

    assert (service.requests[0].method, service.requests[0].path) == (
        "POST",
        "/workspace/memory/tasks/undo-1/cancel",
    )
    assert task.cancel_requested


def test_a_task_of_a_kind_without_a_place_of_its_own_is_found_among_all():
    with client_of(Reply(200, TASK)) as (client, service):
        client.get("undo-1")

    assert service.requests[0].path == "/workspace/memory/tasks/undo-1"


def test_a_task_id_can_not_leave_its_place_in_the_path():
    with client_of(Reply(200, TASK)) as (client, service):
        client.get("remember-../../x?y")

    assert service.requests[0].path == "/workspace/memory/remember/remember-..%2F..%2Fx%3Fy"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, MemlaneApiError),
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (429, TryLater),
        (503, Unavailable),
    ],
)
def test_each_refusal_is_an_error_of_its_own(status, kind):
    refusal = Reply(status, {"error": "No", "code": "some_code"})
    with client_of(refusal) as (client, _), pytest.raises(MemlaneApiError, match="No") as caught:
        client.remember("hello")

    error = caught.value
    assert type(error) is kind
    assert (error.status, error.code, error.message) == (status, "some_code", "No")


@pytest.mark.parametrize(
    ("header", "seconds"), [({"Retry-After": "7"}, 7.0), ({}, None), ({"Retry-After": "x"}, None)]
)
def test_a_full_queue_says_when_to_come_back(header, seconds):
    full = Reply(429, {"code": "remember_queue_full"}, header)
    with client_of(full) as (client, _), pytest.raises(QueueFull) as caught:
        client.remember("hello")

    assert caught.value.retry_after_s == seconds


@pytest.mark.parametrize("body", [b"<html>oops</html>", b"[]"])
def test_an_error_that_is_not_json_still_has_status_and_code(body):
    with client_of(Reply(502, body)) as (client, _), pytest.raises(Unavailable, match="HTTP 502") as caught:
        client.get("remember-x")

    assert caught.value.code == "api_error"


def test_an_answer_of_another_service_is_told_apart():
    foreign = Reply(200, b"<html>hello</html>")
    with (
        client_of(foreign) as (client, _),
        pytest.raises(MemlaneApiError, match=r"what answers at http://\S+ is not a memlane service"),
    ):
        client.get("remember-x")


@pytest.mark.parametrize("status", [302, 400, 404, 501])
def test_a_refusal_of_another_service_is_told_apart(status):
    with (
        client_of(Reply(status, b"<html>hello</html>")) as (client, _),
        pytest.raises(MemlaneApiError, match=rf"is not a memlane service \(HTTP {status}\)"),
    ):
        client.get("remember-x")


def test_no_service_is_unreachable():
    with scripted_service([Reply()]) as service:
        url = service.url

    with (
        Client(url, "secret", retry_s=0) as client,
        pytest.raises(Unreachable, match=f"no memlane answers at {url}; start one with `memlane up`"),
    ):
        client.remember("hello")


def test_a_connection_that_is_lost_leaves_open_whether_it_was_accepted():
    with client_of(Reply(body=None)) as (client, _), pytest.raises(Unreachable, match="may have been"):
        client.remember("hello")


def test_a_service_that_is_silent_is_unreachable():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with (
            Client(url, "secret", limit_s=0.1, retry_s=0) as client,
            pytest.raises(Unreachable, match="gave no answer in time"),
        ):
            client.remember("hello")


def test_half_a_character_is_replaced():
    with client_of(Reply(202, TASK)) as (client, service):
        client.remember("\ud800 lone")

    assert json.loads(service.requests[0].body)["content"] == "\ufffd lone"


@pytest.mark.parametrize(("workspace", "sent"), [("/a\udcff", "%2Fa%FF"), ("/a\ud800", "%2Fa%EF%BF%BD")])
def test_a_path_that_is_no_utf8_can_be_named(workspace, sent):
    with client_of(Reply(202, TASK)) as (client, service):
        client.remember("hello", workspace=workspace)

    assert service.requests[0].path == f"/workspaces/{sent}/memory/remember"


def test_the_end_of_a_task_can_be_waited_for_by_its_id():
    with client_of(Reply(200, TASK), Reply(200, DONE)) as (client, service):
        assert client.wait(TASK["taskId"], workspace="0295621f3cf988a7").finished

    assert {seen.path for seen in service.requests} == {
        f"/workspaces/0295621f3cf988a7/memory/remember/{TASK['taskId']}"
    }


def test_what_is_served_can_be_listed():
    served = [{"id": "0295621f3cf988a7", "cwd": "/srv/a", "primary": True, "trusted": True}]
    with client_of(Reply(200, {"v": 1, "features": [], "workspaces": served})) as (client, service):
        assert [one.cwd for one in client.workspaces()] == ["/srv/a"]

    assert service.requests[0].path == "/capabilities"


def test_a_task_is_rendered_as_the_service_gave_it():
    with client_of(Reply(200, DONE)) as (client, _):
        assert json.loads(client.get("remember-x").to_json()) == DONE


def test_an_event_knows_when_it_happened():
    timed = Event.model_validate({"type": "x", "_meta": {"serverTimestamp": 1_500}})

    assert timed.at == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)
    assert Event.model_validate({"type": "x"}).at is None


def test_waiting_ends_with_the_task_and_tells_each_change():
    running = TASK | {"status": "running", "position": None}
    further = running | {"progress": {"turn": 1, "maxTurns": 6, "lastTool": "edit", "filesTouched": 1}}
    changes: list[tuple[str, int]] = []
    answers = [TASK, TASK, running, running, further, DONE]

    def note(task: Task) -> None:
        changes.append((task.status, task.progress.turn if task.progress else 0))

    with client_of(*(Reply(200, answer) for answer in answers)) as (client, service):
        task = client.wait(client.remember("hello"), on_change=note)

    assert changes == [("running", 0), ("running", 1), ("completed", 0)]
    assert task.result is not None
    assert task.result.files_touched == ("~/.qwen/a.md",)
    assert service.requests[-1].path == f"/workspaces/0295621f3cf988a7/memory/remember/{TASK['taskId']}"


def test_waiting_outlasts_a_service_that_is_away_for_a_moment():
    with client_of(Reply(503, {}), Reply(body=None), Reply(200, DONE)) as (client, _):
        assert client.wait(Task.model_validate(TASK)).finished


def test_waiting_has_an_end():
    with (
        client_of(Reply(200, TASK)) as (client, _),
        pytest.raises(WaitTimeout, match="is still queued after 0 s"),
    ):
        client.wait(Task.model_validate(TASK), 0)


def test_a_task_that_has_ended_is_not_asked_for():
    with client_of(Reply(500)) as (client, service):
        assert client.wait(Task.model_validate(DONE)).finished

    assert service.requests == []


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "nonsense", "http://", "http://127.0.0.1:port"])
def test_what_is_no_url_is_refused(url):
    with pytest.raises(ConfigError, match="is not a"):
        Client(url, "secret")


def test_a_token_that_can_not_be_sent_is_refused():
    with pytest.raises(ConfigError, match="the token in the call"):
        Client("http://127.0.0.1", "two words")


def test_proxies_are_for_other_machines_only(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with client_of(Reply(202, TASK)) as (client, _):
        assert client.remember("hello").status == "queued"


@pytest.mark.parametrize("url", ["http://localhost:1", "http://memlane.example:1"])
def test_names_are_accepted_as_hosts(url):
    Client(url, "secret").close()


def test_settings_of_the_environment_are_used_unless_others_are_given(tmp_path, monkeypatch):
    with scripted_service([Reply(202, TASK)]) as service:
        monkeypatch.setenv("MEMLANE_URL", service.url)
        monkeypatch.setenv("MEMLANE_TOKEN", "from-environment")
        monkeypatch.setenv("MEMLANE_HOME", str(tmp_path))
        (tmp_path / "token").write_text("from-file\n")
        with Client() as client:
            client.remember("hello")
        monkeypatch.delenv("MEMLANE_TOKEN")
        with Client() as client:
            client.remember("hello")
        (tmp_path / "token").unlink()
        with Client() as client:
            client.remember("hello")

    sent = [seen.headers.get("Authorization") for seen in service.requests]
    assert sent == ["Bearer from-environment", "Bearer from-file", None]
