from typing import Any

import pytest

from agent.models.completion import Completion, UnreadableReply
from agent.models.interface import ToolCall


def test_text_and_calls_are_put_together_from_their_pieces() -> None:
    reply = streamed(
        {"content": "Sav"},
        {"content": "ing"},
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "edit", "arguments": '{"x"'}}]},
        {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "read_file", "arguments": "{}"}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
    ).reply()

    assert reply.text == "Saving"
    assert reply.tool_calls == (ToolCall("a", "edit", '{"x":1}'), ToolCall("b", "read_file", "{}"))


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    reply = streamed(
        {"tool_calls": [{"id": "a", "function": {"name": "edit", "arguments": "{"}}]},
        {"tool_calls": [{"function": {"arguments": "}"}}]},
        {"tool_calls": [{"id": "b", "function": {"name": "edit", "arguments": "{}"}}]},
    ).reply()

    assert [call.arguments for call in reply.tool_calls] == ["{}", "{}"]


def test_a_call_without_an_id_gets_one() -> None:
    reply = streamed({"tool_calls": [{"function": {"name": "edit"}}]}).reply()

    assert reply.tool_calls == (ToolCall("call-0", "edit", ""),)


def test_a_whole_answer_is_read_too_with_its_usage() -> None:
    completion = Completion()
    completion.add(
        b'{"choices":[{"message":{"content":"Done.","tool_calls":null}}],'
        b'"usage":{"prompt_tokens":7,"completion_tokens":2}}'
    )

    reply = completion.reply()

    assert (reply.text, reply.usage.input_tokens, reply.usage.output_tokens) == ("Done.", 7, 2)
    assert reply.usage.model_calls == 1


def test_a_lone_surrogate_is_replaced() -> None:
    assert streamed({"content": "a\ud800"}).reply().text == "a\ufffd"


def test_a_chunk_without_a_choice_only_adds_usage() -> None:
    completion = streamed({"content": "x"})
    completion.add({"choices": [], "usage": {"prompt_tokens": 3}})
    completion.add({"choices": [{"finish_reason": "stop"}]})

    assert completion.reply().usage.input_tokens == 3


def test_an_answer_is_finished_when_the_server_says_so() -> None:
    completion = streamed({"content": "x"})
    before = completion.is_finished
    completion.add({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    completion.add({"choices": []})

    assert (before, completion.is_finished) == (False, True)


def test_half_an_emoji_is_no_reason_to_give_an_answer_up() -> None:
    completion = Completion()
    completion.add('{"choices": [{"delta": {"content": "a\\ud83d"}}]}')

    assert completion.reply().text == "a\ufffd"


@pytest.mark.parametrize(
    "garbage",
    [
        b"{",
        b"[]",
        "[1, 2]",
        "5",
        '"text"',
        "null",
        "NaN",
        "[" * 100_000,
        "1" * 5_000,
        {"foo": 1},
        {"choices": 5},
        {"choices": None},
        {"choices": {"0": {}}},
        {"choices": [[]]},
        {"choices": [{"delta": 1}]},
        {"choices": [{"delta": [{"content": "x"}]}]},
        {"choices": [{"delta": {"content": ["x"]}}]},
        {"choices": [{"delta": {"tool_calls": {"index": 0}}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": {"a": 1}}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": None}]}}]},
        {"choices": [{"delta": {}, "finish_reason": 1}]},
        {"choices": [], "usage": {"prompt_tokens": -1}},
        {"choices": [], "usage": {"prompt_tokens": 10**300}},
    ],
)
def test_what_is_no_completion_is_unreadable(garbage: Any) -> None:
    with pytest.raises(UnreadableReply):
        Completion().add(garbage)


def test_no_content_at_all_is_unreadable() -> None:
    with pytest.raises(UnreadableReply):
        Completion().reply()


def test_an_endless_answer_is_cut_off() -> None:
    with pytest.raises(UnreadableReply):
        streamed(*[{"content": "x" * 300_000}] * 4)
    with pytest.raises(UnreadableReply):
        streamed({"tool_calls": [{"index": 0, "function": {"arguments": "x" * 1_000_001}}]})


def test_endlessly_many_calls_are_cut_off() -> None:
    with pytest.raises(UnreadableReply):
        streamed(*[{"tool_calls": [{"index": number}]} for number in range(129)])


def test_text_is_heard_as_it_comes() -> None:
    heard: list[str] = []
    completion = Completion(heard.append)
    for piece in ("Sav", "", "ing\ud83d"):
        completion.add({"choices": [{"delta": {"content": piece}}]})

    assert heard == ["Sav", "ing\ufffd"]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), ("tool_calls", "stop"), ("length", "length"), ("content_filter", "refusal")],
)
def test_a_reply_says_why_it_ends(reason: str, finish: str) -> None:
    completion = streamed({"content": "Well"})
    completion.add({"choices": [{"delta": {}, "finish_reason": reason}]})

    assert completion.reply().finish == finish


def test_a_refusal_in_its_own_field_is_one_and_its_words_are_the_text() -> None:
    reply = streamed({"refusal": "I can't "}, {"refusal": "do that."}).reply()

    assert (reply.text, reply.finish) == ("I can't do that.", "refusal")


def streamed(*deltas: dict[str, Any]) -> Completion:
    completion = Completion()
    for delta in deltas:
        completion.add({"choices": [{"index": 0, "delta": delta}]})
    return completion
