"""/clear in all its races: design page "Channel layer", 2.10."""

import asyncio

import pytest

from channels.replies import CLEARED
from tests.support.channels.scene import scene, settle
from tests.support.channels.slow_stores import HeldLedger


async def test_clear_without_a_session_says_so():
    chat = scene()
    await chat.say("/clear")

    assert "No active session" in chat.texts[0]


async def test_after_clear_the_next_message_has_a_new_session():
    chat = scene()
    await chat.say("one")
    chat.bridge.answer("x")
    await settle()
    await chat.say("/clear")
    await chat.say("two")

    assert "Session cleared" in chat.texts[1]
    assert [prompt.session_id for prompt in chat.bridge.prompts] == ["s1", "s2"]


async def test_reset_and_new_do_the_same():
    for command in ("/reset", "/new", "/NEW"):
        chat = scene()
        await chat.say("one")
        chat.bridge.answer("x")
        await settle()
        await chat.say(command)

        assert "Session cleared" in chat.texts[-1]


async def test_clear_cancels_what_runs_and_confirms_after_its_end():
    chat = scene()
    await chat.say("one")
    await chat.say("/clear")
    assert chat.log[-1] == "cancelled clear"
    chat.bridge.answer("x")
    await settle()

    assert chat.log[-2:] == ["end hook", "send Session cleared. The next message starts a new one."]


async def test_clear_of_a_wedged_turn_waits_three_seconds_and_gives_it_up(capsys):
    chat = scene()
    await chat.say("one")
    await chat.say("/clear")
    await chat.later(2_999)
    assert "end hook" not in chat.log
    await chat.later(1)

    assert chat.log[-2:] == ["end hook", "send Session cleared. The next message starts a new one."]
    told = capsys.readouterr()
    assert "abandoned a wedged turn" in told.out + told.err


async def test_a_wedged_turn_that_settles_later_tells_nothing_more():
    chat = scene()
    await chat.say("one")
    await chat.say("/clear")
    await chat.later(3_000)
    chat.log.clear()
    chat.bridge.answer("late")
    await settle()

    assert chat.log == []
    assert [event.type for event in chat.channel.events] == ["started", "cancelled"]


async def test_a_message_after_the_clear_of_a_wedged_turn_is_answered():
    chat = scene()
    await chat.say("one")
    await chat.say("/clear")
    await chat.later(3_000)
    await chat.say("two")
    chat.bridge.answer("fine")
    await settle()

    assert chat.texts[-1] == "fine"


async def test_turns_that_wait_are_dropped_without_a_trace(capsys):
    chat = scene(dispatch_mode="followup")
    await chat.say("one")
    waiting = await chat.say("two")
    await chat.say("/clear")
    chat.bridge.answer("x")
    await settle()

    assert chat.prompted == ["one"]
    assert chat.types == ["started", "cancelled"]
    assert waiting.done()
    assert waiting.exception() is None
    told = capsys.readouterr()
    assert "dropped queued turn from Ann" in told.out + told.err


async def test_a_clear_during_delivery_is_a_cancellation_and_nothing_completes():
    chat = scene()
    chat.channel.gate = asyncio.Event()
    await chat.say("one")
    chat.bridge.answer("answer")
    await settle()
    await chat.say("/clear")
    chat.channel.gate.set()
    await settle()

    assert chat.types == ["started", "cancelled"]
    assert chat.channel.events[-1].reason == "clear"


async def test_a_clear_while_the_context_is_read_drops_the_turn():
    class SlowMemory:
        def __init__(self):
            self.gate = asyncio.Event()

        async def read(self, _target):
            await self.gate.wait()
            return "known"

    memory = SlowMemory()
    chat = scene(memory=memory, allowed_users=("u1",))
    await chat.say("one")
    await chat.say("/clear")
    memory.gate.set()
    await settle()

    assert chat.prompted == []
    assert chat.types == []


async def test_clear_in_a_shared_session_has_to_be_confirmed():
    chat = scene(session_scope="single")
    await chat.say("one")
    chat.bridge.answer("x")
    await settle()
    await chat.say("/clear")
    assert "/clear confirm" in chat.texts[-1]
    await chat.say("/clear CONFIRM")

    assert "Session cleared" in chat.texts[-1]


async def test_clear_of_a_shared_session_is_for_those_who_are_listed(capsys):
    chat = scene(session_scope="single", allowed_users=("boss",))
    await chat.say("one")
    chat.bridge.answer("x")
    await settle()
    await chat.say("/clear confirm", sender_id="u2")
    assert "authorized" in chat.texts[-1]
    await chat.say("/clear confirm", sender_id="boss", sender_name="Boss")

    assert "Session cleared" in chat.texts[-1]
    told = capsys.readouterr()
    assert "shared session s1 cleared by Boss" in told.out + told.err


async def test_clear_of_one_session_leaves_the_others():
    chat = scene()
    await chat.say("one", sender_id="u1")
    await chat.say("two", sender_id="u2")
    await chat.say("/clear", sender_id="u1")
    chat.bridge.answer("x", number=0)
    chat.bridge.answer("y", number=1)
    await settle()

    assert "y" in chat.texts


async def test_parts_of_an_answer_that_were_not_begun_when_its_session_was_cleared_are_not_sent():
    chat = scene()
    chat.channel.limit = 4
    await chat.say("hello")
    chat.channel.gate = asyncio.Event()
    chat.bridge.answer("abcdefgh")
    await settle()
    await chat.say("/clear")
    chat.channel.limit = None
    chat.channel.gate.set()
    await settle()

    assert chat.texts == ["abcd", CLEARED]
    assert await chat.outbox.unsent() == ()


async def test_a_wedged_turn_that_is_cleared_when_its_time_is_up_has_one_end():
    chat = scene()
    await chat.say("hello")
    await chat.later(599_000)
    await chat.say("/clear")
    await chat.later(1_000)
    await chat.later(2_000)
    await chat.later(3_000)

    assert chat.log == ["started", "start hook", "cancelled clear", "end hook", f"send {CLEARED}"]


async def test_nobody_waits_for_a_wedged_turn_that_was_cleared():
    chat = scene()
    message = await chat.say("hello")
    await chat.say("/clear")
    await chat.later(3_000)

    assert message.done()
    assert await chat.ledger.unfinished() == ()


async def test_a_wedged_turn_that_is_given_up_by_two_at_once_has_one_end():
    chat = scene()
    await chat.say("hello")
    await chat.later(600_000)
    await chat.say("/clear")
    await chat.later(3_000)

    assert [event.type for event in chat.channel.events] == ["started", "cancelled"]
    assert chat.log.count("end hook") == 1


@pytest.mark.parametrize("late", ["/clear", "another message"])
@pytest.mark.parametrize("answer", ["an answer", ""])
async def test_a_turn_whose_end_is_being_noted_is_not_called_off_any_more(late, answer):
    chat = scene(dispatch_mode="steer")
    chat.ledger = HeldLedger()
    chat.open()
    await chat.say("hello")
    chat.bridge.answer(answer)
    await settle()

    await chat.say(late)
    chat.ledger.gate.set()
    await settle()

    first = [event.type for event in chat.channel.events if event.message_id == "msg1"]
    assert first == ["started", "completed"]
    assert chat.bridge.cancelled == []
