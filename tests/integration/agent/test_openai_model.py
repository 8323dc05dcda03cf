"""The model client against a real server, in this process."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import SecretStr

from agent.deadline import Deadline
from agent.errors import ModelUnavailable, TaskTimeout
from agent.models.interface import Message, Reply, ToolCall, ToolSpec
from agent.models.openai import MAX_BODY_BYTES, MAX_TRIES, OpenAIModel
from core.settings import ModelSettings
from tests.support.scripted_model import (
    Answer,
    break_off,
    calls,
    endless,
    raw,
    says,
    scripted_model,
    silent,
    status,
)

TOOL = ToolSpec("look", "Looks.", {"type": "object", "properties": {}})


def test_messages_and_tools_arrive_as_the_protocol_wants_them() -> None:
    with scripted_model([says("Done.")]) as server, client(server.base_url) as model:
        call = ToolCall("c1", "look", "{}")
        history = [
            Message("system", "rules"),
            Message("user", "order"),
            Message("assistant", "", tool_calls=(call,)),
            Message("tool", "seen", tool_call_id="c1"),
        ]
        model.complete(history, [TOOL], deadline=Deadline.after(20_000))

    (request,) = server.requests
    assert request["_path"] == "/v1/chat/completions"
    assert request["messages"][2]["tool_calls"][0]["function"] == {"name": "look", "arguments": "{}"}
    assert request["messages"][3] == {"role": "tool", "content": "seen", "tool_call_id": "c1"}
    assert request["tools"] == [
        {
            "type": "function",
            "function": {"name": "look", "description": "Looks.", "parameters": dict(TOOL.parameters)},
        }
    ]
    assert request["stream"] is True


def test_a_reply_holds_text_calls_and_usage() -> None:
    with (
        scripted_model([calls(("look", {"a": "é"}), text="Hm.")]) as server,
        client(server.base_url) as model,
    ):
        reply = ask(model)

    assert reply.text == "Hm."
    assert json.loads(reply.tool_calls[0].arguments) == {"a": "é"}
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.model_calls) == (100, 20, 1)


def test_a_server_without_a_key_is_served_too() -> None:
    with scripted_model([says("Done.")]) as server, client(server.base_url, key=None) as model:
        assert ask(model).text == "Done."


def test_an_answer_that_breaks_off_is_asked_for_again() -> None:
    with scripted_model([break_off(), says("Done.")]) as server, client(server.base_url) as model:
        assert ask(model).text == "Done."

    assert len(server.requests) == 2


@pytest.mark.parametrize("beginning", [[], ["The beginning of"]], ids=["empty", "begun"])
@pytest.mark.parametrize("ending", ["", ": a comment\n\n", 'data: {"choices": []}\n\n', 'data: {"cho'])
def test_a_stream_that_stops_in_mid_answer_is_asked_for_again(beginning: list[str], ending: str) -> None:
    script = [events(*map(chunk, beginning), ending), says("Done.")]
    with scripted_model(script) as server, client(server.base_url) as model:
        assert ask(model).text == "Done."

    assert len(server.requests) == 2


def test_a_stream_that_always_stops_in_mid_answer_gives_none() -> None:
    script = [events(chunk("The beginning of"))] * 9
    with (
        scripted_model(script) as server,
        client(server.base_url) as model,
        pytest.raises(ModelUnavailable, match="broke off"),
    ):
        ask(model)

    assert len(server.requests) == MAX_TRIES


@pytest.mark.parametrize(
    "ending",
    [
        "data: [DONE]\n\n",
        "data: [DONE]\n\ndata: {garbage\n\n",
        'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n',
        "event: note\n\nid: 1\n\nretry: 5\n\ndata:\n\ndata: [DONE]\r\n\r\n",
    ],
)
def test_a_stream_is_whole_when_its_end_or_a_reason_for_it_is_named(ending: str) -> None:
    with scripted_model([events(chunk("Done."), ending)]) as server, client(server.base_url) as model:
        assert ask(model).text == "Done."


@pytest.mark.parametrize(
    "garbage",
    ["[1]", "5", "null", '"x"', '{"choices": [5]}', '{"choices": [{"delta": [1]}]}', "[" * 100_000],
)
def test_a_chunk_of_another_shape_is_an_answer_that_can_not_be_read(garbage: str) -> None:
    script = [events(chunk("Do"), f"data: {garbage}\n\n", "data: [DONE]\n\n"), says("Done.")]
    with (
        scripted_model(script) as server,
        client(server.base_url) as model,
        pytest.raises(ModelUnavailable, match="could not be read"),
    ):
        ask(model)

    assert len(server.requests) == 1


def test_an_event_that_is_far_too_long_is_cut_off() -> None:
    script = [events(chunk("Done.").replace("{", "{" + " " * MAX_BODY_BYTES, 1), "data: [DONE]\n\n")]
    with (
        scripted_model(script) as server,
        client(server.base_url) as model,
        pytest.raises(ModelUnavailable, match="could not be read"),
    ):
        ask(model)

    assert len(server.requests) == 1


def test_one_connection_serves_answer_after_answer() -> None:
    with scripted_model([says("One."), says("Two.")]) as server, client(server.base_url) as model:
        assert [ask(model).text, ask(model).text] == ["One.", "Two."]

    assert len({request["_client"] for request in server.requests}) == 1


def test_an_address_that_is_no_url_is_said_to_be_none() -> None:
    with client("http://127.0.0.1:port/v1") as model, pytest.raises(ModelUnavailable, match="is no URL"):
        ask(model)


def test_an_empty_address_means_the_public_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    with scripted_model([says("Done.")]) as server, client("") as model:
        monkeypatch.setattr("agent.models.openai.DEFAULT_BASE_URL", server.base_url)

        assert ask(model).text == "Done."


@pytest.mark.parametrize("absurd", ["1e9", "86400.5"])
def test_an_absurd_wait_is_not_begun(absurd: str) -> None:
    script = [status(429, headers={"retry-after": absurd}), says("Done.")]
    with (
        scripted_model(script) as server,
        client(server.base_url) as model,
        pytest.raises(ModelUnavailable, match="HTTP 429"),
    ):
        ask(model)

    assert len(server.requests) == 1


@pytest.mark.parametrize("odd", ["-1e9", "nan", "inf", "Thu, 01 Jan 1970 00:00:00 GMT"])
def test_an_odd_wait_does_not_keep_a_request_from_being_tried_again(odd: str) -> None:
    script = [status(429, headers={"retry-after": odd}), says("Done.")]
    with scripted_model(script) as server, client(server.base_url) as model:
        assert ask(model).text == "Done."


def test_a_wait_until_after_the_deadline_is_not_begun() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    script = [status(503, headers={"retry-after": later}), says("Done.")]
    with (
        scripted_model(script) as server,
        client(server.base_url) as model,
        pytest.raises(ModelUnavailable, match="HTTP 503"),
    ):
        ask(model)

    assert len(server.requests) == 1


def test_an_unreadable_wait_is_replaced_by_our_own() -> None:
    script = [status(503, headers={"retry-after": "soon"}), says("Done.")]
    with scripted_model(script) as server, client(server.base_url) as model:
        assert ask(model).text == "Done."


def test_one_request_may_not_take_longer_than_its_own_limit() -> None:
    with (
        scripted_model([silent()]) as server,
        client(server.base_url, timeout_s=0.5) as model,
        pytest.raises(ModelUnavailable, match="too long for one answer"),
    ):
        ask(model)


def test_a_stream_that_never_ends_is_cut_and_its_connection_closed() -> None:
    with scripted_model([endless()]) as server, client(server.base_url) as model:
        with pytest.raises(TaskTimeout):
            ask(model, time_ms=1500)
        assert server.cut.wait(5)


def test_an_answer_is_heard_as_it_comes_and_not_asked_for_again_once_it_was() -> None:
    script = [break_off(), events(chunk("The beg"), chunk("inning")), says("Done.")]
    heard: list[str] = []
    with (
        scripted_model(script) as server,
        client(server.base_url) as model,
        pytest.raises(ModelUnavailable, match="broke off"),
    ):
        model.speak([Message("user", "order")], [], deadline=Deadline.after(20_000), hear=heard.append)

    assert heard == ["The beg", "inning"]
    assert len(server.requests) == 2  # of the first answer nothing was heard


def test_no_server_at_all_is_given_up_before_the_deadline() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with (
            client(f"http://127.0.0.1:{port}/v1") as model,
            pytest.raises(ModelUnavailable, match="the connection failed"),
        ):
            ask(model, time_ms=1500)


def test_a_client_that_was_never_used_can_be_closed() -> None:
    with client("http://127.0.0.1:9/v1") as model:
        assert model.name == "scripted-1"


def events(*pieces: str) -> Answer:
    return raw("".join(pieces), content_type="text/event-stream; charset=utf-8")


def chunk(text: str) -> str:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': text}}]})}\n\n"


@contextmanager
def client(base_url: str, *, key: str | None = "k", timeout_s: float = 20) -> Iterator[OpenAIModel]:
    settings: dict[str, Any] = {
        "openai_base_url": base_url,
        "openai_api_key": SecretStr(key) if key else None,
        "openai_model": "scripted-1",
        "MEMLANE_MODEL_TIMEOUT_S": timeout_s,
    }
    model = OpenAIModel(ModelSettings(**settings))
    try:
        yield model
    finally:
        model.close()


def ask(model: OpenAIModel, *, time_ms: int = 20_000) -> Reply:
    return model.complete([Message("user", "order")], [TOOL], deadline=Deadline.after(time_ms))
