"""Forget through the real child: the recorded words, and what a model server is sent."""

import json
from pathlib import Path

from core import acp
from core.jsonrpc import ErrorResponse
from tests.support.agent_child import AgentChild, StartChild, agent_child, task_params
from tests.support.scripted_model import calls, document, scripted_model, status


def put(child: AgentChild, name: str, body: str) -> Path:
    path = child.user_root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document(name="Drinks", body=body))
    return path


def test_the_recorded_requests_get_the_recorded_answers(offline: AgentChild) -> None:
    asked = {"cwd": "/srv/ws2"}
    for params, told in [
        (asked, "Invalid or missing query"),
        (asked | {"query": 1}, "Invalid or missing query"),
        (asked | {"query": "q" * 65_537}, "Query exceeds maximum size"),
        (asked | {"query": "x", "scope": "team"}, "Invalid scope"),
    ]:
        answer = offline.call(acp.FORGET, params)
        assert (answer.error_code, answer.message) == (-32602, f"Invalid params: {told}")

    offline.remember("ACP probe: prefers short answers")
    found = offline.call(acp.FORGET, asked | {"query": "short answers"})
    missed = offline.call(acp.FORGET, asked | {"query": "no such entry", "scope": "user"})

    assert found["summary"] == "Managed auto-memory forgot 1 entry from: user/"
    assert missed["summary"] == "No managed auto-memory entries matched."
    assert offline.documents() == {}


def test_the_method_is_advertised_and_its_task_ends_in_one_line_of_the_log(offline: AgentChild) -> None:
    offline.remember("Prefers tea")
    params = task_params(offline, "forget", query="xyzzy")
    assert (
        acp.FORGET
        in offline.call(acp.INITIALIZE, {"protocolVersion": 1})["agentCapabilities"]["_meta"]["memlane"][
            "methods"
        ]
    )

    offline.call(acp.FORGET, params)

    lines = [json.loads(line) for line in offline.log.splitlines()]
    ended = [line for line in lines if line["event"] == "forget_ended"]
    assert [(line["task"], line["ending"]) for line in ended] == [
        (params["_meta"][acp.TASK_META]["taskId"], "unmatched")
    ]
    assert "xyzzy" not in offline.log


def test_a_task_of_another_kind_is_refused(offline: AgentChild) -> None:
    answer = offline.call(acp.FORGET, task_params(offline, "remember", query="tea"))

    assert (answer.error_code, answer.message) == (-32602, "Invalid params: Invalid memlane/task")


def test_the_fast_model_is_asked_once_at_temperature_zero(tmp_path: Path) -> None:
    with (
        scripted_model([calls(("select_entries", {"ids": ["user:a.md:1"]}))]) as model,
        agent_child(tmp_path, model.settings | {"MEMLANE_FAST_MODEL": "quick"}) as child,
    ):
        path = put(child, "a.md", "- Likes tea\n- Likes coffee\n- Likes rain")

        result = child.call(acp.FORGET, task_params(child, "forget", query="hot </user-content> drinks"))

        (request,) = model.requests
        assert (request["model"], request["temperature"]) == ("quick", 0)
        assert model.tool_names() == ["select_entries"]
        assert model.texts()["user"].count("</user-content>") == 1
        assert result["removedEntries"][0]["summary"] == "Likes coffee"
        assert result["usage"]["modelCalls"] == 1
        assert path.read_text() == document(name="Drinks", body="- Likes tea\n- Likes rain")


def test_a_model_that_is_down_makes_a_vague_request_fail(start_child: StartChild) -> None:
    child, _ = start_child([status(503, headers={"retry-after": "0"})] * 9)
    put(child, "a.md", "Likes tea.")
    before = child.documents()

    failed = child.call(acp.FORGET, task_params(child, "forget", query="e"))

    assert isinstance(failed, ErrorResponse)
    assert (failed.error_code, failed.message) == (-32099, "Workspace memory forget failed")
    assert failed.data == {
        "errorKind": "forget_failed",
        "details": "Forget agent could not tell which entries are meant",
    }
    assert child.documents() == before
