"""Chat sessions of real child processes: design page "ACP between worker and agent child"."""

import asyncio
import json
import os
import signal

import pytest

from acp_bridge.chat.bridge import open_chat_bridge
from acp_bridge.errors import (
    AgentDied,
    AgentFailed,
    AgentKilled,
    AgentProtocolError,
    AgentUnavailable,
    SessionBusy,
)
from core.chat import AgentCommand, PromptImage, ToolCall
from core.errors import ConfigError
from tests.support.channels.chat_bridging import bridged, on, steps

IMAGE = PromptImage("aGk=", "image/png")


def test_a_prompt_is_answered_and_told_piece_by_piece(tmp_path):
    async def test(bridge, heard, session):
        answer = await bridge.prompt(session, steps(["say", "Hel"], ["think", "hm"], ["say", "lo"]))

        assert answer == "Hello"
        assert heard.texts == ["Hel", "lo"]

    on(tmp_path, test)


def test_what_comes_after_the_answer_is_dropped(tmp_path):
    async def test(bridge, heard, session):
        other = await bridge.new_session(str(tmp_path))
        await bridge.prompt(session, steps(["say", "one"], ["afterwards", "late"]))
        assert await bridge.prompt(other, "two") == "You said: two"

        assert heard.texts == ["one", "You said: two"]

    on(tmp_path, test)


def test_tool_calls_are_told_and_later_words_keep_what_was_told_before(tmp_path):
    async def test(bridge, heard, session):
        first = {"toolCallId": "t", "kind": "read", "title": "Read it", "status": "pending"}
        await bridge.prompt(
            session, steps(["tool", first], ["more", {"toolCallId": "t", "status": "completed"}])
        )

        assert heard.calls == [
            ToolCall("t", "read", "Read it", "pending"),
            ToolCall("t", "read", "Read it", "completed"),
        ]

    on(tmp_path, test)


@pytest.mark.parametrize(
    "params", [None, [], {}, {"sessionId": 3, "update": {}}, {"sessionId": "x", "update": 3}]
)
def test_updates_of_a_wrong_shape_are_passed_over(tmp_path, params):
    async def test(bridge, heard, session):
        assert await bridge.prompt(session, steps(["raw", params], ["say", "well"])) == "well"

    on(tmp_path, test)


def test_content_that_is_no_text_is_passed_over(tmp_path):
    async def test(bridge, heard, session):
        picture = {"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "x"}}
        told = {"sessionId": session, "update": picture}
        assert await bridge.prompt(session, steps(["raw", told], ["say", "well"])) == "well"

    on(tmp_path, test)


def test_two_sessions_of_one_child_are_kept_apart(tmp_path):
    async def test(bridge, heard, session):
        other = await bridge.new_session(str(tmp_path))
        assert session.partition("-")[0] == other.partition("-")[0]
        assert await bridge.prompt(other, "hello") == "You said: hello"
        assert await bridge.prompt(session, "there") == "You said: there"

    on(tmp_path, test)


def test_two_folders_have_a_child_each(tmp_path):
    (tmp_path / "other").mkdir()

    async def test(bridge, heard, session):
        other = await bridge.new_session(str(tmp_path / "other"))

        assert session.partition("-")[0] != other.partition("-")[0]

    on(tmp_path, test)


def test_a_second_prompt_in_a_session_is_refused_and_harms_nothing(tmp_path):
    async def test(bridge, heard, session):
        running = asyncio.create_task(bridge.prompt(session, steps(["say", "a"], ["wait"])))
        await heard.until(lambda: heard.texts)
        with pytest.raises(SessionBusy):
            await bridge.prompt(session, "second")
        await bridge.cancel_session(session)

        assert await running == "a"

    on(tmp_path, test)


def test_a_cancelled_prompt_returns_what_there_was(tmp_path):
    async def test(bridge, heard, session):
        running = asyncio.create_task(bridge.prompt(session, steps(["say", "half"], ["wait"])))
        await heard.until(lambda: heard.texts)
        await bridge.cancel_session(session)

        assert await running == "half"
        assert await bridge.prompt(session, "again") == "You said: again"

    on(tmp_path, test)


def test_when_the_caller_gives_up_the_agent_is_told(tmp_path):
    async def test(bridge, heard, session):
        running = asyncio.create_task(bridge.prompt(session, steps(["say", "half"], ["wait"])))
        await heard.until(lambda: heard.texts)
        running.cancel()
        await asyncio.wait({running})
        await bridge.new_session(str(tmp_path))  # the child does one after the other

        assert await bridge.prompt(session, "again") == "You said: again"

    on(tmp_path, test)


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens", "max_turn_requests", "refusal"])
def test_whatever_the_reason_what_was_written_is_returned(tmp_path, reason):
    async def test(bridge, heard, session):
        assert await bridge.prompt(session, steps(["say", "text"], ["stop", reason])) == "text"

    on(tmp_path, test)


def test_a_refusal_without_a_word_is_a_failure(tmp_path):
    async def test(bridge, heard, session):
        with pytest.raises(AgentFailed):
            await bridge.prompt(session, steps(["stop", "refusal"]))

    on(tmp_path, test)


def test_an_error_of_the_agent_is_a_failure_and_the_session_goes_on(tmp_path):
    async def test(bridge, heard, session):
        with pytest.raises(AgentFailed, match="-32603"):
            await bridge.prompt(session, steps(["fail", -32603]))

        assert await bridge.prompt(session, "again") == "You said: again"

    on(tmp_path, test)


def test_why_there_is_no_answer_is_told_in_words(tmp_path):
    async def test(bridge, heard, session):
        away = steps(["fail", -32099, {"errorKind": "model_unavailable"}])
        with pytest.raises(AgentFailed, match=r"^the language model did not answer$"):
            await bridge.prompt(session, away)

    on(tmp_path, test)


def test_a_child_that_dies_under_a_prompt_fails_it_and_its_sessions_are_told_dead_once(tmp_path):
    async def test(bridge, heard, session):
        other = await bridge.new_session(str(tmp_path))
        with pytest.raises(AgentDied):
            await bridge.prompt(session, steps(["say", "a"], ["die", 7]))
        await heard.until(lambda: len(heard.died) == 2)

        assert sorted(heard.died) == sorted([session, other])
        with pytest.raises(AgentDied):
            await bridge.prompt(session, "again")
        with pytest.raises(AgentDied):
            await bridge.cancel_session(session)

    on(tmp_path, test)


def test_a_child_that_is_killed_is_replaced_for_the_next_session(tmp_path):
    async def test(bridge, heard, session):
        running = asyncio.create_task(bridge.prompt(session, steps(["say", "a"], ["hang"])))
        await heard.until(lambda: heard.texts)
        os.kill(int(session.partition("-")[0]), signal.SIGKILL)
        with pytest.raises(AgentDied):
            await running
        fresh = await bridge.new_session(str(tmp_path))

        assert await bridge.prompt(fresh, "again") == "You said: again"

    on(tmp_path, test)


def test_a_child_without_prompts_is_stopped_and_its_sessions_told_dead(tmp_path):
    async def test(bridge, heard, session):
        await heard.until(lambda: heard.died)

        assert heard.died == [session]

    on(tmp_path, test, idle_s=0.05)


def test_at_the_end_running_prompts_are_given_up(tmp_path):
    async def run():
        async with bridged() as (bridge, heard):
            session = await bridge.new_session(str(tmp_path))
            running = asyncio.create_task(bridge.prompt(session, steps(["say", "a"], ["hang"])))
            await heard.until(lambda: heard.texts)
        with pytest.raises(AgentKilled):
            await running

    asyncio.run(run())


def test_without_a_command_there_is_no_bridge():
    with pytest.raises(ConfigError):
        open_chat_bridge(command=[], environment={}, idle_s=1)


def test_a_command_that_can_t_be_run_is_told(tmp_path):
    async def run():
        async with bridged(words=["/a/command/that/is/not/there"]) as (bridge, _):
            with pytest.raises(AgentUnavailable):
                await bridge.new_session(str(tmp_path))

    asyncio.run(run())


def test_a_session_without_an_id_is_refused(tmp_path):
    async def run():
        async with bridged("mute") as (bridge, _):
            with pytest.raises(AgentProtocolError):
                await bridge.new_session(str(tmp_path))

    asyncio.run(run())


def test_commands_are_those_of_the_session_or_those_told_last(tmp_path):
    async def test(bridge, heard, session):
        await bridge.prompt(session, "hello")
        expected = (AgentCommand("init", "Begins"), AgentCommand("end"))

        assert bridge.commands(session) == expected
        assert bridge.commands() == expected
        assert bridge.commands("another") == ()

    on(tmp_path, test)


def test_images_go_along_where_they_are_taken(tmp_path):
    async def test(bridge, heard, session):
        shown = json.loads(await bridge.prompt(session, steps(["show"]), images=[IMAGE]))

        assert shown[1] == {"type": "image", "data": "aGk=", "mimeType": "image/png"}

    on(tmp_path, test, "images")


def test_where_no_images_are_taken_the_agent_is_told_that_there_was_one(tmp_path):
    async def test(bridge, heard, session):
        answer = await bridge.prompt(session, "look", images=[IMAGE])

        assert "An image came with this" in answer

    on(tmp_path, test)


def test_other_requests_of_an_agent_are_refused(tmp_path):
    async def test(bridge, heard, session):
        assert await bridge.prompt(session, steps(["request", "fs/read_text_file"])) == "-32601"

    on(tmp_path, test)


def test_a_mode_and_a_model_that_are_offered_are_chosen(tmp_path):
    async def test(bridge, heard, session):
        fresh = await bridge.new_session(str(tmp_path), mode="plan", model="m2")
        chosen = [json.loads(line) for line in (tmp_path / "chosen").read_text().splitlines()]

        assert chosen == [
            ["session/set_mode", {"sessionId": fresh, "modeId": "plan"}],
            ["session/set_model", {"sessionId": fresh, "modelId": "m2"}],
        ]

    on(tmp_path, test, "modes")


def test_a_mode_that_is_not_offered_is_passed_over(tmp_path):
    async def test(bridge, heard, session):
        await bridge.new_session(str(tmp_path), mode="yolo", model="m9")

        assert not (tmp_path / "chosen").exists()

    on(tmp_path, test, "modes")


def test_a_session_of_before_is_gone_on_with_and_its_past_is_not_told_again(tmp_path):
    async def test(bridge, heard, session):
        assert await bridge.load_session("before", cwd=str(tmp_path)) == "before"
        assert await bridge.prompt("before", "hello") == "You said: hello"

        assert heard.texts == ["You said: hello"]

    on(tmp_path, test, "loads")


def test_a_session_that_the_agent_lost_is_not_gone_on_with(tmp_path):
    async def test(bridge, heard, session):
        with pytest.raises(AgentFailed):
            await bridge.load_session("lost", cwd=str(tmp_path))

    on(tmp_path, test, "loads")


def test_an_agent_that_keeps_no_sessions_is_not_asked_for_one(tmp_path):
    async def test(bridge, heard, session):
        with pytest.raises(AgentFailed, match="session_not_found"):
            await bridge.load_session("before", cwd=str(tmp_path))

    on(tmp_path, test)


def test_an_answer_of_many_megabytes_is_cut(tmp_path):
    async def test(bridge, heard, session):
        piece = "x" * 200_000
        answer = await bridge.prompt(session, steps(*[["say", piece]] * 7))

        assert len(answer) == 1024 * 1024
        assert sum(map(len, heard.texts)) == 1024 * 1024

    on(tmp_path, test)
