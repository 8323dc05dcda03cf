"""Messages that are replaced before the agent has heard of them: design page "Channel layer", 2.7."""

from channels.replies import STEER_NOTE
from tests.support.channels.scene import scene, settle
from tests.support.channels.slow_stores import GatedLedger


async def steered_before_it_was_asked(*texts):
    """Messages that follow each other while the first turn is still being noted."""
    chat = scene(dispatch_mode="steer")
    chat.ledger = GatedLedger()
    chat.open()
    for number, text in enumerate(texts):
        await chat.say(text, receipts=(f"r{number}",))
    chat.ledger.gate.set()
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
    chat = await steered_before_it_was_asked("one", "two", "three")

    assert chat.ledger.ended == [("cancelled", ()), ("completed", ("r1", "r0")), ("completed", ("r2",))]


async def test_what_was_replaced_before_the_agent_heard_of_it_is_told_once():
    chat = await steered_before_it_was_asked("one", "two", "three")

    assert chat.prompted == [f"one\n\n{STEER_NOTE}\n\ntwo", f"{STEER_NOTE}\n\nthree"]


async def test_what_was_cancelled_before_the_agent_heard_of_it_is_not_told():
    chat = await steered_before_it_was_asked("one", "/cancel", "two")

    assert chat.prompted == [f"{STEER_NOTE}\n\ntwo"]
