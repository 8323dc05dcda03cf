"""Stored messages are handled in their order, each to an end, whatever fails."""

import asyncio
import gc

from channels.inflow import MAX_UNDER_WAY, Inflow
from channels.replies import CANCELLED
from channels.volatile import VolatileInbox, VolatileLedger
from events.errors import ChannelLeaseLost
from tests.support.channels.scene import scene, settle


async def inflow(chat, inbox):
    flow = Inflow(chat.channel, inbox)
    return flow, asyncio.create_task(flow.run())


async def test_stored_messages_are_handled_in_their_order_and_a_repeat_once():
    chat = scene(dispatch_mode="followup")
    inbox = VolatileInbox()
    assert await inbox.put(chat.message("one"), keys=["k1"])
    assert await inbox.put(chat.message("two"), keys=["k2"])
    assert not await inbox.put(chat.message("one"), keys=["other", "k1"])
    _, running = await inflow(chat, inbox)
    await settle()
    chat.bridge.answer("first")
    await settle()
    chat.bridge.answer("second")
    await settle()
    running.cancel()

    assert chat.prompted == ["one", "two"]
    assert chat.texts == ["first", "second"]


class CountingInbox(VolatileInbox):
    """Counts what was taken."""

    taken = 0

    async def take(self):
        messages = await super().take()
        self.taken += len(messages)
        return messages


async def test_no_more_than_a_thousand_messages_are_under_way_and_the_rest_waits_in_the_inbox():
    chat, inbox = scene(dispatch_mode="followup"), CountingInbox()
    for number in range(MAX_UNDER_WAY + 1):
        await inbox.put(chat.message(f"message {number}"), keys=[f"k{number}"])
    flow = Inflow(chat.channel, inbox)
    running = asyncio.create_task(flow.run())
    for _ in range(MAX_UNDER_WAY):
        await asyncio.sleep(0)
    await settle()
    assert inbox.taken == MAX_UNDER_WAY
    chat.bridge.answer("done")
    await settle()

    assert inbox.taken == MAX_UNDER_WAY + 1
    running.cancel()
    await flow.drain(limit_s=0)


async def asked(*, ledger=None):
    """A chat whose message was stored and is put to the agent; and what takes messages out of its inbox."""
    chat, inbox = scene(), VolatileInbox()
    chat.ledger = ledger or chat.ledger
    chat.open()
    await inbox.put(chat.message("one"), keys=["k1"])
    _, running = await inflow(chat, inbox)
    await settle()
    return chat, running


async def test_a_stored_message_that_fails_is_answered_with_the_failure():
    chat, running = await asked()
    chat.bridge.fail("no model")
    await settle()
    running.cancel()

    assert chat.texts == ["Sorry, that failed: no model"]


async def test_the_facts_of_an_unexpected_failure_are_not_told_in_the_chat():
    chat, running = await asked()
    chat.bridge.prompts[0].answer.set_exception(RuntimeError("/srv/secret/path"))
    await settle()
    running.cancel()

    assert "secret" not in chat.texts[0]


class SettlingLedger(VolatileLedger):
    """Remembers what was settled."""

    def __init__(self):
        super().__init__()
        self.settled = []

    async def settle(self, receipts, settlement):
        self.settled += receipts


async def test_a_message_that_failed_is_settled_although_the_adapter_has_a_fault_with_saying_so():
    chat, running = await asked(ledger=SettlingLedger())
    chat.channel.send_message = lambda *_, **__: 1 / 0
    chat.bridge.fail("no model")
    await settle()
    running.cancel()

    assert len(chat.ledger.settled) == 1


class LostLedger(VolatileLedger):
    """Of a channel that another process was given."""

    async def begin(self, turn):
        raise ChannelLeaseLost("another process serves the channel")

    async def settle(self, receipts, settlement):
        raise ChannelLeaseLost("another process serves the channel")


async def test_who_lost_the_channel_asks_nothing_and_ends_quietly():
    chat, inbox, faults = scene(), VolatileInbox(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, facts: faults.append(facts))
    chat.ledger = LostLedger()
    chat.open()
    await inbox.put(chat.message("one"), keys=["k1"])
    flow, running = await inflow(chat, inbox)
    await settle()
    running.cancel()
    await flow.drain(limit_s=0)
    gc.collect()

    assert chat.prompted == []
    assert faults == []


async def test_an_answer_with_half_a_character_is_sent_without_it():
    chat = scene()
    await chat.say("hello")
    chat.bridge.answer("so \ud83d")
    await settle()

    assert chat.texts == ["so \ufffd"]


async def test_a_message_whose_turn_raises_after_its_cancellation_is_not_told_to_have_failed():
    chat, running = await asked()
    await chat.say("/cancel")
    chat.bridge.fail("interrupted")
    await settle()
    running.cancel()

    assert chat.texts == [CANCELLED]


async def test_a_failure_is_told_although_the_turn_had_said_something_beside_its_answer():
    chat, running = await asked()
    await chat.channel.reply(chat.channel.active_message("s1"), "May I?")
    chat.bridge.fail("no model")
    await settle()
    running.cancel()

    assert chat.texts == ["May I?", "Sorry, that failed: no model"]
