"""What must not happen to chats when a child loses a session, dies, repeats itself or is abandoned."""

import asyncio

import pytest

from acp_bridge.errors import AgentDied, AgentKilled, AgentProtocolError, AgentTimeout, SessionBusy
from core.chat import PromptImage
from tests.support.channels.chat_bridging import bridged, on, steps

PAUSE_S = 1.0
NOT_FOUND = -32002
GONE_AT_REFERENCE = {"details": "Session not found: x"}


@pytest.mark.parametrize(("code", "data"), [(NOT_FOUND, None), (-32603, GONE_AT_REFERENCE)])
def test_a_session_that_its_child_lost_is_told_dead_and_the_child_lives_on(tmp_path, code, data):
    async def test(bridge, heard, session):
        other = await bridge.new_session(str(tmp_path))
        with pytest.raises(AgentDied):
            await bridge.prompt(session, steps(["fail", code, data]))

        assert heard.died == [session]
        with pytest.raises(AgentDied):
            await bridge.prompt(session, "again")
        assert await bridge.prompt(other, "hello") == "You said: hello"
        assert heard.died == [session]

    on(tmp_path, test)


def test_only_sessions_that_were_opened_are_told_dead(tmp_path):
    async def test(bridge, heard, session):
        update = {"sessionUpdate": "available_commands_update", "availableCommands": []}
        strange = {"sessionId": "strange", "update": update}
        with pytest.raises(AgentDied):
            await bridge.prompt(session, steps(["raw", strange], ["die", 1]))
        await heard.until(lambda: heard.died)

        assert heard.died == [session]
        with pytest.raises(AgentDied):
            await bridge.cancel_session("strange")

    on(tmp_path, test)


def test_a_child_that_names_an_id_twice_does_not_join_two_chats(tmp_path):
    async def run():
        async with bridged("same") as (bridge, _):
            await bridge.new_session(str(tmp_path))
            with pytest.raises(AgentProtocolError):
                await bridge.new_session(str(tmp_path))

    asyncio.run(run())


def test_two_children_that_name_the_same_id_do_not_join_two_chats(tmp_path):
    (tmp_path / "other").mkdir()

    async def run():
        async with bridged("same") as (bridge, _):
            await bridge.new_session(str(tmp_path))
            with pytest.raises(AgentProtocolError):
                await bridge.new_session(str(tmp_path / "other"))

    asyncio.run(run())


def test_what_an_abandoned_prompt_still_writes_is_nobodys_answer(tmp_path):
    async def test(bridge, heard, session):
        other = await bridge.new_session(str(tmp_path))
        running = asyncio.create_task(bridge.prompt(session, steps(["say", "a"], ["wait"], ["say", "late"])))
        await heard.until(lambda: heard.texts)
        running.cancel()
        await asyncio.wait({running})
        with pytest.raises(SessionBusy):
            await bridge.prompt(session, "too early")
        assert await bridge.prompt(other, "hello") == "You said: hello"  # the child does one after the other

        assert await bridge.prompt(session, "again") == "You said: again"
        assert heard.texts == ["a", "You said: hello", "You said: again"]

    on(tmp_path, test)


def test_a_child_that_died_under_a_prompt_is_not_replaced_without_a_pause(tmp_path):
    async def test(bridge, heard, session):
        begun = asyncio.get_running_loop().time()
        with pytest.raises(AgentDied):
            await bridge.prompt(session, steps(["die", 1]))
        await bridge.new_session(str(tmp_path))

        assert asyncio.get_running_loop().time() - begun >= PAUSE_S

    on(tmp_path, test, first_backoff_s=PAUSE_S, max_backoff_s=PAUSE_S)


def test_nothing_is_started_once_the_bridge_is_closed(tmp_path):
    async def run():
        async with bridged() as (bridge, _):
            await bridge.new_session(str(tmp_path))
        (tmp_path / "other").mkdir()
        with pytest.raises(AgentKilled):
            await bridge.new_session(str(tmp_path / "other"))

    asyncio.run(run())


def test_images_that_no_line_can_hold_are_left_out_and_the_child_lives_on(tmp_path):
    async def test(bridge, heard, session):
        huge = PromptImage("A" * (9 * 1024 * 1024), "image/png")
        sizes = await bridge.prompt(session, steps(["sizes"]), images=[huge] * 4)

        assert sizes.startswith("2 images")
        assert sizes.count("An image came with this") == 2
        assert heard.died == []

    on(tmp_path, test, "images")


def test_an_opening_that_takes_too_long_ends_no_prompt_of_another_session(tmp_path):
    async def test(bridge, heard, session):
        running = asyncio.create_task(bridge.prompt(session, steps(["say", "a"], ["wait"])))
        await heard.until(lambda: heard.texts)
        with pytest.raises(AgentTimeout):
            await bridge.new_session(str(tmp_path))
        await bridge.cancel_session(session)

        assert await running == "a"
        assert heard.died == []

    on(tmp_path, test, start_s=3)


def test_a_child_that_opens_no_session_in_time_is_replaced(tmp_path):
    async def run():
        async with bridged("shy", start_s=3) as (bridge, _):
            with pytest.raises(AgentTimeout):
                await bridge.new_session(str(tmp_path))
            session = await bridge.new_session(str(tmp_path))

            assert session.partition("-")[0] != (tmp_path / "shy").read_text()

    asyncio.run(run())
