"""Cancellation against everything else: design page "Channel layer", 4.3 and 4.4."""

import asyncio

import pytest

from channels.config import BlockStreaming
from channels.replies import CANCELLED, NOT_CANCELLED, NOTHING_RUNS
from tests.support.channels.scene import scene, settle
from tests.support.channels.scripted_bridge import ScriptedBridge
from tests.support.channels.slow_stores import GatedLedger

ENDS = {"completed", "cancelled", "failed"}


def ends(chat):
    return [event.type for event in chat.channel.events if event.type in ENDS]


async def held(chat):
    """A turn that runs, and a /cancel whose verdict the test gives."""
    chat.bridge.verdicts = []
    message = await chat.say("hello")
    await chat.say("/cancel")
    return message


async def accept(chat, number=0):
    chat.bridge.verdicts[number].set_result(None)
    await settle()


async def reject(chat, number=0):
    chat.bridge.refuses_cancel = True
    chat.bridge.verdicts[number].set_result(None)
    await settle()


async def test_without_a_turn_there_is_nothing_to_cancel():
    chat = scene()
    await chat.say("/cancel")

    assert chat.texts == [NOTHING_RUNS]
    assert chat.bridge.cancelled == []


async def test_cancel_accepted_then_the_prompt_returns_is_cancelled_only_and_the_text_is_dropped():
    chat = scene()
    await chat.say("hello")
    await chat.say("/cancel")
    chat.bridge.answer("too late")
    await settle()

    assert chat.log == ["started", "start hook", "cancelled cancel_command", f"send {CANCELLED}", "end hook"]


async def test_cancel_accepted_then_the_prompt_raises_is_cancelled_only_and_the_call_raises():
    chat = scene()
    message = await chat.say("hello")
    await chat.say("/cancel")
    chat.bridge.fail("interrupted")
    await settle()

    assert ends(chat) == ["cancelled"]
    assert chat.log[-1] == "end hook"
    assert str(message.exception()) == "interrupted"


async def test_a_prompt_that_raises_after_cancellation_is_logged(capsys):
    chat = scene()
    await chat.say("hello")
    await chat.say("/cancel")
    chat.bridge.fail("interrupted")
    await settle()

    told = capsys.readouterr()
    assert "turn msg1 threw after cancellation for session s1" in told.out + told.err


async def test_the_prompt_returns_while_cancel_is_pending_and_it_is_then_accepted():
    chat = scene()
    await held(chat)
    chat.bridge.answer("answer")
    await settle()
    assert ends(chat) == []
    await accept(chat)

    assert ends(chat) == ["cancelled"]
    assert chat.texts == [CANCELLED]
    assert chat.log.index("cancelled cancel_command") < chat.log.index("end hook")


async def test_a_verdict_later_than_three_seconds_loses_against_the_answer():
    chat = scene()
    await held(chat)
    chat.bridge.answer("answer")
    await settle()
    await chat.later(2_999)
    assert chat.texts == []
    await chat.later(1)
    assert ends(chat) == ["completed"]
    await accept(chat)

    assert chat.texts == ["answer", NOT_CANCELLED]
    assert ends(chat) == ["completed"]


async def test_the_prompt_returns_while_cancel_is_pending_and_it_is_then_rejected():
    chat = scene()
    await held(chat)
    chat.bridge.answer("answer")
    await settle()
    await reject(chat)

    assert ends(chat) == ["completed"]
    assert sorted(chat.texts) == sorted(["answer", NOT_CANCELLED])


async def test_the_prompt_raises_while_cancel_is_pending_and_it_is_then_accepted():
    chat = scene()
    message = await held(chat)
    chat.bridge.fail("interrupted")
    await settle()
    await accept(chat)

    assert ends(chat) == ["cancelled"]
    assert message.exception() is not None


async def test_the_prompt_raises_while_cancel_is_pending_and_it_is_then_rejected():
    chat = scene()
    await held(chat)
    chat.bridge.fail("broken")
    await settle()
    await reject(chat)

    assert ends(chat) == ["failed"]


async def test_a_cancel_during_delivery_fails_without_asking_the_agent():
    chat = scene()
    chat.channel.gate = asyncio.Event()
    await chat.say("hello")
    chat.bridge.answer("answer")
    await settle()
    await chat.say("/cancel")
    chat.channel.gate.set()
    await settle()

    assert chat.bridge.cancelled == []
    assert ends(chat) == ["completed"]
    assert sorted(chat.texts) == sorted(["answer", NOT_CANCELLED])


async def test_a_cancel_during_a_delivery_that_fails_leaves_it_failed():
    chat = scene()
    chat.channel.gate = asyncio.Event()
    chat.channel.refuses = 1
    await chat.say("hello")
    chat.bridge.answer("answer")
    await settle()
    await chat.say("/cancel")
    chat.channel.gate.set()
    await settle()

    assert ends(chat) == ["failed"]
    assert chat.channel.events[-1].phase == "delivery"


async def test_a_rejected_cancel_says_so_and_can_be_repeated(capsys):
    chat = scene()
    await chat.say("hello")
    chat.bridge.refuses_cancel = True
    await chat.say("/cancel")
    assert chat.texts == [NOT_CANCELLED]
    chat.bridge.refuses_cancel = False
    await chat.say("/cancel")

    assert chat.texts == [NOT_CANCELLED, CANCELLED]
    assert chat.bridge.cancelled == ["s1", "s1"]
    told = capsys.readouterr()
    assert "cancelSession failed for session=s1" in told.out + told.err


async def test_two_cancels_share_one_request_and_one_event():
    chat = scene()
    await held(chat)
    await chat.say("/cancel")
    await accept(chat)

    assert chat.bridge.cancelled == ["s1"]
    assert chat.texts == [CANCELLED, CANCELLED]
    assert ends(chat) == ["cancelled"]


async def test_chunks_are_held_while_a_cancel_is_pending_and_discarded_when_it_is_accepted():
    chat = scene()
    await held(chat)
    chat.bridge.write("secret")
    assert "text_chunk" not in chat.types
    await accept(chat)
    chat.bridge.write("more")

    assert "text_chunk" not in chat.types


async def test_chunks_that_were_held_are_told_in_order_when_the_cancel_is_rejected():
    chat = scene(block_streaming=BlockStreaming(2, 3, 0))
    await held(chat)
    chat.bridge.write("abc")
    chat.bridge.write("def")
    await reject(chat)

    told = [entry for entry in chat.log if entry.startswith(("chunk hook", "send a", "send d"))]
    assert told[:2] == ["chunk hook abc", "chunk hook def"]
    assert "send abc" in told


async def test_a_late_verdict_releases_what_was_held_before_the_answer():
    chat = scene()
    await held(chat)
    chat.bridge.write("abc")
    chat.bridge.answer("abc")
    await settle()
    await chat.later(3_000)

    assert chat.log.index("chunk hook abc") < chat.log.index("send abc")


async def test_a_tool_call_while_a_cancel_is_pending_reaches_the_adapter_only():
    chat = scene()
    await held(chat)
    chat.bridge.use_tool()

    assert "tool_call" not in chat.types
    assert "tool hook c1" in chat.log


async def test_after_a_cancellation_nothing_is_told_but_the_end_hook():
    chat = scene()
    await chat.say("hello")
    await chat.say("/cancel")
    chat.log.clear()
    chat.bridge.write("x")
    chat.bridge.use_tool()
    chat.bridge.answer("x")
    await settle()

    assert chat.log == ["tool hook c1", "end hook"]


async def test_a_cancel_before_the_prompt_is_sent_keeps_it_from_being_sent():
    chat = scene()
    chat.ledger = GatedLedger()
    chat.open()
    await chat.say("hello")
    await chat.say("/cancel")
    chat.ledger.gate.set()
    await settle()

    assert chat.prompted == []
    assert chat.log == ["started", "start hook", "cancelled cancel_command", f"send {CANCELLED}", "end hook"]


async def test_cancel_stops_the_blocks_that_were_not_sent():
    chat = scene(block_streaming=BlockStreaming(100, 200, 0))
    await chat.say("hello")
    chat.bridge.write("half of an ans")
    await chat.say("/cancel")
    chat.bridge.answer("half of an answer")
    await settle()

    assert chat.texts == [CANCELLED]


async def test_cancel_then_clear_is_one_cancellation_with_the_first_reason():
    chat = scene()
    await chat.say("hello")
    await chat.say("/cancel")
    await chat.say("/clear")
    chat.bridge.answer("x")
    await settle()

    assert [event.reason for event in chat.channel.events if event.type == "cancelled"] == ["cancel_command"]
    assert chat.log.count("end hook") == 1


async def test_steer_while_a_cancel_is_pending_is_one_cancellation_and_both_are_answered():
    chat = scene()
    await held(chat)
    await chat.say("instead")
    await accept(chat)
    chat.bridge.answer("x", number=0)
    await settle()
    chat.bridge.answer("new answer")
    await settle()

    assert [event.reason for event in chat.channel.events if event.type == "cancelled"] == ["steer"]
    assert chat.texts == [CANCELLED, "new answer"]


async def test_cancel_by_somebody_who_may_not_is_refused_and_leaks_nothing():
    chat = scene(
        session_scope="single", allowed_users=("boss",), sender_policy="open", group_policy="open", groups={}
    )
    await chat.say("hello", sender_id="boss")
    await chat.say("/cancel", sender_id="u2")

    assert "authorized" in chat.texts[-1]
    assert chat.bridge.cancelled == []


@pytest.mark.parametrize("mode", ["collect", "steer", "followup"])
async def test_every_started_turn_has_one_end_whatever_the_mode(mode):
    chat = scene(dispatch_mode=mode)
    for text in ("one", "two", "/cancel", "three", "/clear", "four"):
        await chat.say(text)
    for prompt in list(chat.bridge.prompts):
        if not prompt.answer.done():
            prompt.answer.set_result("answer")
        await settle()
    for prompt in chat.bridge.prompts:
        if not prompt.answer.done():
            prompt.answer.set_result("answer")
    await settle()

    assert len(ends(chat)) == chat.types.count("started")
    assert chat.log.count("end hook") == chat.types.count("started")


async def test_an_empty_answer_waits_once_more_for_a_verdict_that_is_pending():
    chat = scene()
    await held(chat)
    chat.bridge.answer("")
    await settle()
    await chat.later(3_000)
    assert ends(chat) == []
    await accept(chat)

    assert ends(chat) == ["cancelled"]


async def test_a_cancel_that_the_agent_never_answers_fails_with_the_turn_s_end():
    chat = scene()
    await held(chat)
    chat.bridge.answer("done")
    await settle()
    await chat.later(3_000)

    assert chat.texts == ["done", NOT_CANCELLED]
    assert not chat.bridge.verdicts[0].done()


async def test_a_cancel_that_joins_a_deadline_drops_what_was_collected():
    chat = scene(dispatch_mode="collect")
    chat.bridge.verdicts = []
    await chat.say("one")
    await chat.say("two")
    await chat.later(600_000)
    await chat.say("/cancel")
    chat.bridge.verdicts[0].set_result(None)
    await settle()
    chat.bridge.answer("too late")
    await settle()

    assert chat.prompted == ["one"]
    assert [event.reason for event in chat.channel.events if event.type == "cancelled"] == ["timeout"]


async def test_a_turn_is_called_off_at_the_bridge_that_it_runs_on():
    chat = scene()
    await chat.say("hello")
    old = chat.bridge
    chat.bridge = ScriptedBridge()
    chat.channel.set_bridge(chat.bridge)
    await chat.say("/cancel")

    assert (old.cancelled, chat.bridge.cancelled) == (["s1"], [])
