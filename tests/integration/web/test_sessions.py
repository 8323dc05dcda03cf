"""Client sessions over HTTP: ids for clients, streams that end with their session, who sees whose tasks."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from core.keys import LaneKeys
from core.workspaces import Workspaces
from events.connect import connect
from memlane.embedded import EmbeddedRedis
from tests.support.lane_driver import LaneDriver
from tests.support.web_server import AUTHORIZED, Answer, EventStream, WebServer, running_web

JSON = {**AUTHORIZED, "Content-Type": "application/json"}
REMEMBER = "/workspace/memory/remember"
NO_SESSION = "00000000-0000-4000-8000-000000000000"


def as_client(client: str) -> dict[str, str]:
    return {**JSON, "X-Qwen-Client-Id": client}


def post(web: WebServer, path: str, body: Any = None, *, client: str = "") -> Answer:
    return web.request("POST", path, headers=as_client(client), body=json.dumps(body or {}).encode())


def enter(web: WebServer, **body: Any) -> Mapping[str, Any]:
    answer = post(web, "/session", body)
    assert answer.status == 200, answer.raw
    entry: dict[str, Any] = answer.json
    return entry


def close(web: WebServer, session: str, *, client: str = "") -> Answer:
    return web.request("DELETE", f"/session/{session}", headers=as_client(client))


@pytest.fixture
def own(web: WebServer) -> Mapping[str, Any]:
    """A session that nobody shares."""
    return enter(web, sessionScope="thread")


@pytest.fixture
def stored(redis_url: str, workspaces: Workspaces) -> Iterator[None]:
    """Holds that the test changes nothing in the primary workspace's part of Redis."""
    redis: Any = connect(redis_url)
    pattern = f"{LaneKeys(workspaces.primary.id).base}*"
    before = {name: redis.dump(name) for name in redis.scan_iter(pattern, count=1000)}
    yield
    assert {name: redis.dump(name) for name in redis.scan_iter(pattern, count=1000)} == before


class TestEntering:
    def test_says_what_the_contract_says_in_its_order(self, web: WebServer, workspaces: Workspaces) -> None:
        entry = enter(web, sessionScope="thread")

        assert list(entry) == ["sessionId", "workspaceCwd", "attached", "clientId", "createdAt"]
        assert (entry["workspaceCwd"], entry["attached"]) == (workspaces.primary.path, False)

    def test_the_folder_chooses_the_workspace(self, web: WebServer, paths: list[Path]) -> None:
        entry = enter(web, cwd=f"{paths[1]}/.")

        assert entry["workspaceCwd"] == str(paths[1])
        assert enter(web)["sessionId"] != entry["sessionId"]

    def test_a_folder_that_is_not_served_is_told_with_what_is(
        self, web: WebServer, workspaces: Workspaces, stored: None
    ) -> None:
        answer = post(web, "/session", {"cwd": "/srv/other"})

        assert (answer.status, answer.json["code"]) == (400, "workspace_mismatch")
        assert answer.json["boundWorkspace"] == workspaces.primary.path
        assert answer.json["requestedWorkspace"] == "/srv/other"

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ({"cwd": 5}, "invalid_cwd"),
            ({"cwd": None}, "invalid_cwd"),
            ({"cwd": ""}, "invalid_cwd"),
            ({"cwd": "rel/path"}, "invalid_cwd"),
            ({"cwd": "/a" * 2049}, "invalid_cwd"),
            ({"cwd": "/a\0b"}, "workspace_mismatch"),
            ({"cwd": "/a\ud800"}, "workspace_mismatch"),
            ({"sessionScope": "zzz"}, "invalid_session_scope"),
            ({"sessionScope": None}, "invalid_session_scope"),
            ({"sessionScope": 1, "cwd": 5}, "invalid_cwd"),
        ],
    )
    def test_what_it_can_not_be_asked_for(
        self, web: WebServer, stored: None, body: Mapping[str, Any], code: str
    ) -> None:
        answer = post(web, "/session", body)

        assert (answer.status, answer.json["code"]) == (400, code)

    @pytest.mark.parametrize("client", ["a b", "x" * 129, "é", "a\tb", "a,b"])
    def test_a_malformed_client_id_is_refused_by_every_route(
        self, web: WebServer, own: Mapping[str, Any], stored: None, client: str
    ) -> None:
        headers = {**AUTHORIZED, "X-Qwen-Client-Id": client}
        one = f"/session/{own['sessionId']}"
        for method, path in (
            ("POST", "/session"),
            ("POST", f"{one}/heartbeat"),
            ("POST", f"{one}/detach"),
            ("DELETE", one),
            ("GET", f"{REMEMBER}/remember-none"),
        ):
            answer = web.request(method, path, headers=headers)
            assert (answer.status, answer.json["code"]) == (400, "invalid_client_id"), path
            assert "clientId" not in answer.json

    def test_a_line_break_in_a_client_id_is_no_header(self, web: WebServer, stored: None) -> None:
        sent = (
            f"POST /session HTTP/1.1\r\nHost: localhost:{web.port}\r\nAuthorization: Bearer T\r\n"
            "X-Qwen-Client-Id: a\nX-Forged: b\rc\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )

        received = web.exchange(sent.encode())

        assert received.startswith(b"HTTP/1.1 400 ")
        assert b"X-Forged" not in received


class TestKeepingAndLeaving:
    def test_a_heartbeat_says_who_was_seen_when(self, web: WebServer, own: Mapping[str, Any]) -> None:
        answer = post(web, f"/session/{own['sessionId']}/heartbeat", client=own["clientId"])

        assert answer.status == 200
        assert list(answer.json) == ["sessionId", "clientId", "lastSeenAt"]
        assert isinstance(answer.json["lastSeenAt"], int)

    def test_who_left_takes_no_part_any_more_and_stays_known_to_the_workspace(
        self, web: WebServer, own: Mapping[str, Any]
    ) -> None:
        one, client = f"/session/{own['sessionId']}", own["clientId"]

        left = post(web, f"{one}/detach", client=client)

        assert (left.status, left.raw) == (204, b"")
        assert "content-type" not in left.headers
        assert post(web, f"{one}/heartbeat", client=client).status == 400
        assert post(web, REMEMBER, {"content": "x"}, client=client).status == 202

    @pytest.mark.parametrize("session", [NO_SESSION, "nope", "a%0d%0aX-Forged:%20b", "%00"])
    def test_a_session_that_is_not_there(self, web: WebServer, stored: None, session: str) -> None:
        one = f"/session/{session}"
        for answer in (
            post(web, f"{one}/heartbeat"),
            web.request("DELETE", one),
            web.request("GET", f"{one}/events"),
            web.request("HEAD", f"{one}/events"),
        ):
            assert answer.status == 404
            assert "x-forged" not in answer.headers
        assert post(web, f"{one}/heartbeat").json["code"] == "session_not_found"
        assert post(web, f"{one}/detach").status == 204

    def test_the_log_does_not_repeat_what_was_sent(self, web: WebServer) -> None:
        post(web, "/session/a%0aforged/heartbeat")
        post(web, REMEMBER, {"content": "x"}, client="client_forged")

        assert "forged" not in web.log.read_text()


class TestStreams:
    def test_a_session_hears_its_workspace(
        self, web: WebServer, own: Mapping[str, Any], lane: LaneDriver
    ) -> None:
        with web.stream(f"/session/{own['sessionId']}/events") as stream:
            opened(stream)
            task_id = post(web, REMEMBER, {"content": "x"}, client=own["clientId"]).json["taskId"]
            lane.complete(task_id, memory_changed={"scope": "managed", "taskId": task_id})

            while (payload := stream.payload())["type"] != "memory_changed":
                pass

        assert payload["data"]["taskId"] == task_id
        assert payload["originatorClientId"] == own["clientId"]

    def test_a_closed_session_ends_its_streams_on_every_instance_and_no_others(
        self, web: WebServer, another: WebServer, own: Mapping[str, Any]
    ) -> None:
        other = enter(web, sessionScope="thread")
        path = f"/session/{own['sessionId']}/events"
        with (
            web.stream(path) as here,
            another.stream(path) as there,
            another.stream(f"/session/{other['sessionId']}/events") as apart,
            web.stream("/workspace/events") as whole,
        ):
            for stream in (here, there, apart, whole):
                opened(stream)

            assert close(another, own["sessionId"], client=own["clientId"]).status == 204

            told = [here.event(), there.event()]
            assert (here.block(), there.block()) == ("", "")
            assert whole.payload()["type"] == "session_closed"
            task_id = post(web, REMEMBER, {"content": "x"}).json["taskId"]
            following = apart.payload()
        assert told[0] == told[1]
        envelope = json.loads(told[0]["data"])
        assert list(envelope) == ["id", "v", "type", "data", "originatorClientId", "_meta"]
        assert envelope["data"] == {
            "sessionId": own["sessionId"],
            "reason": "client_close",
            "closedBy": own["clientId"],
        }
        assert (following["type"], following["data"]["taskId"]) == ("task_queued", task_id)
        assert following["id"] == envelope["id"] + 1

    def test_the_end_of_another_session_is_not_replayed(self, web: WebServer, own: Mapping[str, Any]) -> None:
        other = enter(web, sessionScope="thread")
        close(web, other["sessionId"])

        with web.stream(f"/session/{own['sessionId']}/events", {"Last-Event-ID": "0"}) as stream:
            opened(stream)
            types = []
            while (payload := stream.payload())["type"] != "replay_complete":
                types.append(payload["type"])

        assert "session_closed" not in types

    def test_a_closed_session_can_not_be_listened_to(self, web: WebServer, own: Mapping[str, Any]) -> None:
        close(web, own["sessionId"])

        answer = web.request("GET", f"/session/{own['sessionId']}/events")

        assert (answer.status, answer.json["sessionId"]) == (404, own["sessionId"])

    @pytest.mark.parametrize(
        ("sent", "message"),
        [
            ("abc", "`maxQueued` must be a decimal integer"),
            ("", "`maxQueued` must be a decimal integer"),
            ("-5", "`maxQueued` must be a decimal integer"),
            ("%D9%A1%D9%A7", "`maxQueued` must be a decimal integer"),
            ("15", "`maxQueued` must be in [16, 2048]"),
            ("2049", "`maxQueued` must be in [16, 2048]"),
            ("1" * 5000, "`maxQueued` must be in [16, 2048]"),
        ],
    )
    def test_how_far_a_reader_may_not_be_behind(
        self, web: WebServer, own: Mapping[str, Any], sent: str, message: str
    ) -> None:
        answer = web.request("GET", f"/session/{own['sessionId']}/events?maxQueued={sent}")

        assert answer.status == 400
        assert answer.json == {"error": message, "code": "invalid_max_queued"}

    @pytest.mark.parametrize("sent", ["16", "2048"])
    def test_how_far_a_reader_may_be_behind(self, web: WebServer, own: Mapping[str, Any], sent: str) -> None:
        with web.stream(f"/session/{own['sessionId']}/events?maxQueued={sent}") as stream:
            assert stream.status == 200

    def test_all_instances_together_open_64_streams_of_a_session(
        self,
        web: WebServer,
        another: WebServer,
        redis_url: str,
        own: Mapping[str, Any],
        workspaces: Workspaces,
    ) -> None:
        places = LaneKeys(workspaces.primary.id).session_streams(own["sessionId"])
        path = f"/session/{own['sessionId']}/events"
        redis: Any = connect(redis_url)
        with web.stream(path) as stream, another.stream(path) as other:
            for one in (stream, other):
                opened(one)
            taken = redis.zcard(places)
            redis.zadd(places, {f"of a third instance {number}": 2**52 for number in range(62)})

            answer = another.request("GET", path)

        assert taken == 2
        assert (answer.status, answer.headers["retry-after"]) == (429, "5")
        assert answer.json == {
            "error": "EventBus subscriber limit reached (64)",
            "code": "subscriber_limit_exceeded",
            "limit": 64,
        }

    def test_a_cursor_of_one_workspace_yields_nothing_of_it_in_another(
        self, web: WebServer, own: Mapping[str, Any], paths: list[Path]
    ) -> None:
        task_id = post(web, REMEMBER, {"content": "x"}).json["taskId"]
        with web.stream(f"/session/{own['sessionId']}/events", {"Last-Event-ID": "0"}) as stream:
            epoch = stream.headers["x-qwen-event-epoch"]
        other = enter(web, cwd=str(paths[1]))
        cursor = {"Last-Event-ID": "0", "X-Qwen-Event-Epoch": epoch}

        with web.stream(f"/session/{other['sessionId']}/events", cursor) as stream:
            opened(stream)
            seen = [stream.block()]
            while "replay_complete" not in seen[-1]:
                seen.append(stream.block())

        assert "epoch_mismatch" in seen[0]
        assert task_id not in "\n".join(seen)


class TestTasksOfClients:
    def test_a_task_of_a_client_is_there_for_that_client_only(
        self, web: WebServer, own: Mapping[str, Any]
    ) -> None:
        other = enter(web)["clientId"]
        task_id = post(web, REMEMBER, {"content": "x"}, client=own["clientId"]).json["taskId"]
        unknown = web.request("GET", f"{REMEMBER}/remember-none", headers=AUTHORIZED)

        assert web.request("GET", f"{REMEMBER}/{task_id}", headers=as_client(own["clientId"])).status == 200
        for client in (other, ""):
            for method, end in (("GET", ""), ("POST", "/cancel"), ("POST", "/apply")):
                hidden = web.request(method, f"{REMEMBER}/{task_id}{end}", headers=as_client(client))
                assert (hidden.status, hidden.raw) == (404, unknown.raw)
            for method, end in (("GET", ""), ("POST", "/cancel")):
                path = f"/workspace/memory/tasks/{task_id}{end}"
                assert web.request(method, path, headers=as_client(client)).status == 404

    def test_a_task_of_nobody_is_there_for_everybody(self, web: WebServer, own: Mapping[str, Any]) -> None:
        task_id = post(web, REMEMBER, {"content": "x"}).json["taskId"]

        answer = web.request("GET", f"{REMEMBER}/{task_id}", headers=as_client(own["clientId"]))

        assert answer.status == 200

    @pytest.mark.parametrize("path", [REMEMBER, "/workspace/memory/forget", "/workspace/memory/dream"])
    def test_an_id_that_is_not_registered_is_refused(self, web: WebServer, stored: None, path: str) -> None:
        body = {"content": "x", "query": "x"}

        answer = post(web, path, body, client="client_unknown")

        assert answer.status == 400
        assert answer.json == {
            "error": 'Client id "client_unknown" is not registered for this workspace',
            "code": "invalid_client_id",
            "clientId": "client_unknown",
        }

    def test_an_id_counts_in_its_own_workspace_only(
        self, web: WebServer, own: Mapping[str, Any], workspaces: Workspaces
    ) -> None:
        second = f"/workspaces/{list(workspaces)[1].id}/memory/remember"

        assert post(web, second, {"content": "x"}, client=own["clientId"]).status == 400

    def test_a_finished_task_stays_readable_after_its_session_was_closed(
        self, web: WebServer, own: Mapping[str, Any], lane: LaneDriver
    ) -> None:
        task_id = post(web, REMEMBER, {"content": "x"}, client=own["clientId"]).json["taskId"]
        lane.complete(task_id)

        close(web, own["sessionId"], client=own["clientId"])

        answer = web.request("GET", f"{REMEMBER}/{task_id}", headers=as_client(own["clientId"]))
        assert answer.json["status"] == "completed"


@pytest.fixture(scope="module")
def another(
    redis_url: str, paths: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebServer]:
    """A second instance of the same service."""
    with running_web(redis_url, paths, folder=tmp_path_factory.mktemp("another"), heartbeat_s=0.2) as server:
        yield server


def opened(stream: EventStream) -> None:
    assert stream.status == 200
    assert stream.block() == "retry: 3000"


def test_everything_is_refused_while_redis_is_away_and_as_before_afterwards(
    own_redis: EmbeddedRedis, tmp_path: Path
) -> None:
    with running_web(own_redis.state_url, [tmp_path], folder=tmp_path) as web:
        entry = enter(web)
        heartbeat = f"/session/{entry['sessionId']}/heartbeat"
        own_redis.stop()
        refused = [
            post(web, "/session"),
            post(web, heartbeat),
            post(web, f"/session/{entry['sessionId']}/detach", client=entry["clientId"]),
            close(web, entry["sessionId"]),
            web.request("GET", f"/session/{entry['sessionId']}/events"),
            post(web, REMEMBER, {"content": "x"}, client=entry["clientId"]),
        ]
        own_redis.start()

        assert {(one.status, one.json["code"]) for one in refused} == {(503, "storage_unavailable")}
        assert post(web, heartbeat, client=entry["clientId"]).status == 200
