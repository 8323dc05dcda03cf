"""Turns that take too long: design page "Channel layer", 4.4."""

import pytest

from channels.replies import TIMED_OUT
from tests.support.channels.scene import scene, settle


async def test_a_turn_that_takes_too_long_is_cancelled_and_says_so():
    chat = scene()
    await chat.say("hello")
    await chat.later(600_000)
    chat.bridge.answer("too late")
    await settle()

    assert chat.log == [
        *(
            "started",
            "start hook",
            "cancelled timeout",
            "send That took too long and was cancelled.",
            "end hook",
        ),
    ]
    assert chat.bridge.cancelled == ["s1"]


async def test_a_turn_whose_agent_ignores_its_deadline_gives_its_session_up():
    chat = scene()
    await chat.say("hello")
    await chat.later(600_000)
    await chat.later(3_000)
    assert chat.log[-1] == "end hook"
    await chat.say("again")
    chat.bridge.answer("fine")
    await settle()

    assert chat.bridge.prompts[-1].session_id == "s2"
    assert chat.texts[-1] == "fine"


async def test_what_waited_behind_a_wedged_turn_is_answered_in_another_session():
    chat = scene(dispatch_mode="followup")
    await chat.say("hello")
    await chat.say("and this")
    await chat.later(600_000)
    await chat.later(3_000)

    assert chat.bridge.prompts[-1].session_id == "s2"
    assert chat.bridge.prompts[-1].text == "and this"


@pytest.mark.parametrize("late", [("/cancel", "more"), ("more",)])
async def test_who_waits_behind_a_cancelled_turn_that_does_not_end_is_answered_soon(late):
    chat = scene(dispatch_mode="steer")
    await chat.say("hello")
    for text in late:
        await chat.say(text)
    await chat.later(30_000)
    assert len(chat.prompted) == 1
    await chat.later(3_000)

    assert chat.bridge.prompts[-1].session_id == "s2"
    assert chat.prompted[-1].endswith("more")
    assert TIMED_OUT not in chat.texts
    assert chat.types == ["started", "cancelled", "started"]


async def test_a_cancelled_turn_that_ends_in_time_leaves_its_session():
    chat = scene(dispatch_mode="steer")
    await chat.say("hello")
    await chat.say("more")
    await chat.later(29_000)
    chat.bridge.answer("")
    await settle()
    await chat.later(30_000)
    await chat.later(3_000)
    chat.bridge.answer("answered")
    await settle()

    assert [prompt.session_id for prompt in chat.bridge.prompts] == ["s1", "s1"]
    assert chat.texts == ["answered"]


async def test_an_answer_that_comes_before_the_deadline_s_verdict_wins():
    chat = scene()
    chat.bridge.verdicts = []
    await chat.say("hello")
    await chat.later(600_000)
    chat.bridge.answer("just in time")
    await settle()
    await chat.later(3_000)

    assert chat.texts == ["just in time"]
    assert chat.types[-1] == "completed"


async def test_the_agent_s_late_word_on_a_cancellation_drops_nothing_that_waits_behind_a_later_turn():
    chat = scene(dispatch_mode="collect")
    chat.bridge.verdicts = []
    await chat.say("hello")
    await chat.say("/cancel")
    await chat.later(600_000)
    await chat.later(5_000)
    chat.bridge.answer("")
    await settle()
    await chat.say("next")
    await chat.say("and this")
    chat.bridge.verdicts[0].set_result(None)
    await settle()
    chat.bridge.answer("answered")
    await settle()

    assert chat.prompted[-1] == "and this"
    assert {prompt.session_id for prompt in chat.bridge.prompts} == {"s1"}
