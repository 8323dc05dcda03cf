import json
from pathlib import Path

import pytest

from events.connect import connect
from memlane.embedded import EmbeddedRedis
from tests.support.web_server import WebServer, running_web


def answered(web: WebServer) -> list[tuple[str, int]]:
    lines = [json.loads(line) for line in web.log.read_text().splitlines() if line.startswith("{")]
    return [(line["method"], line["status"]) for line in lines if line["event"] == "request_answered"]


def test_requests_that_change_or_fail_are_logged_and_polls_that_go_well_are_not(
    redis_url: str, paths: list[Path], tmp_path: Path
) -> None:
    with running_web(redis_url, paths, folder=tmp_path) as web:
        web.request("GET", "/capabilities")
        web.request("GET", "/health/live", headers={})
        web.request("GET", "/nope")
        web.post("/workspace/memory/remember", {"content": "x", "scope": "bad"})
        web.stop()

        assert answered(web) == [("GET", 404), ("POST", 400)]


def test_who_wants_a_warning_only_is_ready_on_a_store_that_may_lose_tasks(
    own_redis: EmbeddedRedis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(own_redis.state_url) as client:
        client.config_set("appendonly", "no")
    monkeypatch.setenv("MEMLANE_REDIS_CHECK", "warn")

    with running_web(own_redis.state_url, [tmp_path], folder=tmp_path) as web:
        ready = web.request("GET", "/health/ready", headers={}).status
        own_redis.stop()

        assert (ready, web.request("GET", "/health/ready", headers={}).status) == (200, 503)
