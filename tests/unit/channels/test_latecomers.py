"""What comes when a turn's outcome is decided already: design page "Channel layer", 4.4."""

import asyncio

import pytest

from channels.config import BlockStreaming
from channels.replies import NOT_CANCELLED
from tests.support.channels.scene import scene, settle
from tests.support.channels.slow_stores import HeldLedger


@pytest.mark.parametrize("answer", ["an answer", ""])
async def test_a_cancel_while_the_turn_s_end_is_being_noted_fails(answer):
    chat = scene()
    chat.ledger = HeldLedger()
    chat.open()
    await chat.say("hello")
    chat.bridge.answer(answer)
    await settle()
    await chat.say("/cancel")
    chat.ledger.gate.set()
    await settle()

    assert chat.texts[-1] == NOT_CANCELLED
    assert chat.bridge.cancelled == []
    assert chat.types[1:] == ["completed"]


async def test_a_turn_whose_end_is_being_noted_when_its_time_is_up_completes():
    chat = scene()
    chat.ledger = HeldLedger()
    chat.open()
    await chat.say("hello")
    chat.bridge.answer("")
    await settle()
    await chat.later(600_000)
    chat.ledger.gate.set()
    await settle()

    assert chat.bridge.cancelled == []
    assert chat.log == ["started", "start hook", "completed", "end hook"]


async def test_a_turn_whose_answer_is_on_its_way_when_its_time_is_up_completes():
    chat = scene()
    await chat.say("hello")
    chat.channel.gate = asyncio.Event()
    chat.bridge.answer("an answer")
    await settle()
    await chat.later(600_000)
    await chat.later(5_000)
    chat.channel.gate.set()
    await settle()

    assert chat.bridge.cancelled == []
    assert chat.types[1:] == ["completed"]
    assert chat.texts == ["an answer"]


async def test_a_verdict_that_comes_while_the_end_of_an_empty_answer_is_noted_is_too_late():
    chat = scene()
    chat.ledger = HeldLedger()
    chat.open()
    chat.bridge.verdicts = []
    await chat.say("hello")
    await chat.say("/cancel")
    chat.bridge.answer("")
    await settle()
    for _ in range(2):  # once for the answer, once before its end
        await chat.later(3_000)
    chat.bridge.verdicts[0].set_result(None)
    chat.ledger.gate.set()
    await settle()

    assert chat.types[1:] == ["completed"]
    assert chat.texts == [NOT_CANCELLED]


async def test_a_deadline_whose_grace_is_over_while_the_end_is_noted_leaves_it_completed():
    chat = scene()
    chat.ledger = HeldLedger()
    chat.open()
    chat.bridge.verdicts = []
    await chat.say("hello")
    await chat.later(600_000)
    chat.bridge.answer("just in time")
    await settle()
    await chat.later(3_000)
    await chat.later(2_000)
    chat.ledger.gate.set()
    await settle()

    assert chat.types[1:] == ["completed"]
    assert chat.texts == ["just in time"]


async def test_a_piece_that_comes_while_the_turn_s_end_is_being_noted_is_not_told():
    chat = scene()
    chat.ledger = HeldLedger()
    chat.open()
    await chat.say("hello")
    chat.bridge.answer("an answer")
    await settle()
    chat.bridge.write("late")
    chat.ledger.gate.set()
    await settle()

    assert chat.types == ["started", "completed"]


async def test_an_answer_that_was_called_off_is_not_given_to_the_adapter():
    chat = scene()
    given = []
    chat.channel.on_response_complete = lambda _chat, text, _session: given.append(text)
    await chat.say("hello")
    await chat.say("/cancel")
    chat.bridge.answer("too late")
    await settle()

    assert given == []


async def test_parts_of_a_block_that_were_not_begun_when_it_was_cancelled_are_not_sent():
    chat = scene(block_streaming=BlockStreaming(4, 8, 0))
    chat.channel.limit = 4
    await chat.say("hello")
    chat.channel.gate = asyncio.Event()
    chat.bridge.write("abcdefgh")
    await settle()
    cancelling = await chat.say("/cancel")
    chat.channel.gate.set()
    await cancelling

    assert "abcd" in chat.texts
    assert "efgh" not in chat.texts
    assert await chat.outbox.unsent() == ()


async def test_a_delivery_that_fails_while_a_verdict_is_pending_has_failed_at_once():
    chat = scene()
    chat.bridge.verdicts = []
    await chat.say("hello")
    await chat.say("/cancel")
    chat.channel.refuses = 1
    chat.bridge.answer("an answer")
    await settle()
    await chat.later(3_000)

    assert chat.types == ["started", "failed"]
    assert chat.texts == [NOT_CANCELLED]
