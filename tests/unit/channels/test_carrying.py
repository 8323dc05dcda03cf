"""Messages that are replaced before the agent has heard of them: design page "Channel layer", 2.7."""

import asyncio

from channels.replies import STEER_NOTE
from tests.support.channels.scene import scene, settle


async def steered_before_it_was_asked(*texts):
    """Messages that follow each other while the first turn is still being noted."""
    chat = scene(dispatch_mode="steer")
    noting = asyncio.Event()
    begin = chat.ledger.begin

    async def slow_begin(turn):
        await noting.wait()
        await begin(turn)

    chat.ledger.begin = slow_begin
    for text in texts:
        await chat.say(text)
    noting.set()
    for _ in texts:
        await settle()
        chat.bridge.prompts[-1].answer.done() or chat.bridge.answer("done")
    await settle()
    return chat


async def test_what_was_replaced_before_the_agent_heard_of_it_is_told_with_what_replaced_it():
    chat = await steered_before_it_was_asked("fix the bug", "and add a test")

    assert chat.prompted == [f"fix the bug\n\n{STEER_NOTE}\n\nand add a test"]
    assert chat.types == ["started", "cancelled", "started", "completed"]


async def test_what_was_replaced_before_the_agent_heard_of_it_is_done_with_when_what_replaced_it_is():
    chat = scene(dispatch_mode="steer")
    noting, ended = asyncio.Event(), []
    begin, end = chat.ledger.begin, chat.ledger.end

    async def slow_begin(turn):
        await noting.wait()
        await begin(turn)

    async def noted_end(turn, terminal, *, reason=None):
        ended.append((terminal, turn.receipts))
        return await end(turn, terminal, reason=reason)

    chat.ledger.begin, chat.ledger.end = slow_begin, noted_end
    for number in ("r1", "r2", "r3"):
        await chat.say(f"message {number}", receipts=(number,))
    noting.set()
    await settle()
    chat.bridge.answer("done")
    await settle()
    chat.bridge.answer("done")
    await settle()

    assert ended == [("cancelled", ()), ("completed", ("r2", "r1")), ("completed", ("r3",))]


async def test_what_was_replaced_before_the_agent_heard_of_it_is_told_once():
    chat = await steered_before_it_was_asked("one", "two", "three")

    assert chat.prompted == [f"one\n\n{STEER_NOTE}\n\ntwo", f"{STEER_NOTE}\n\nthree"]


async def test_what_was_cancelled_before_the_agent_heard_of_it_is_not_told():
    chat = await steered_before_it_was_asked("one", "/cancel", "two")

    assert chat.prompted == [f"{STEER_NOTE}\n\ntwo"]
