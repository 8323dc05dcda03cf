"""Client sessions over HTTP: entered, kept alive, left."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.workspaces import Workspaces
from memlane.embedded import EmbeddedRedis
from tests.support.client_sessions import NO_SESSION, as_client, enter, post
from tests.support.web_app import application
from tests.support.web_server import AUTHORIZED, WebServer

REMEMBER = "/workspace/memory/remember"


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
            ({"cwd": "/a\r\nX-Forged: b"}, "workspace_mismatch"),
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


def test_everything_is_refused_while_redis_is_away_and_as_before_afterwards(
    own_redis: EmbeddedRedis, tmp_path: Path
) -> None:
    with application(own_redis.state_url, Workspaces([str(tmp_path)])) as app:
        web = app.test_client()
        entry = web.post("/session", headers=AUTHORIZED).get_json()
        one, headers = f"/session/{entry['sessionId']}", as_client(entry["clientId"])
        own_redis.stop()
        refused = [
            web.post("/session", headers=AUTHORIZED),
            web.post(f"{one}/heartbeat", headers=headers),
            web.post(f"{one}/detach", headers=headers),
            web.delete(one, headers=headers),
            web.get(f"{one}/events", headers=headers),
            web.post(REMEMBER, json={"content": "x"}, headers=headers),
        ]
        own_redis.start()

        assert {(each.status_code, each.get_json()["code"]) for each in refused} == {
            (503, "storage_unavailable")
        }
        assert web.post(f"{one}/heartbeat", headers=headers).status_code == 200
