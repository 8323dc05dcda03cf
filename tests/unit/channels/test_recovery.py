"""What survives a crash of the process: design page "Channel layer", 6."""

import asyncio

import pytest

from channels.config import BlockStreaming
from channels.delivering import REPEAT_NOTE
from channels.inflow import Inflow
from channels.outbox import OutboundPart
from channels.replies import INTERRUPTED
from channels.volatile import VolatileInbox, VolatileLedger
from tests.support.channels.scene import scene, settle
from tests.support.channels.slow_stores import SlowLedger, SlowOutbox

MOST_STEPS = 80


async def crash(chat, *tasks):
    """End the process's coroutines wherever they are, and start the next on the same stores."""
    for task in tasks:
        task.cancel()
    await settle()
    old = chat.channel
    chat.open()
    chat.channel.log.append("restart")
    await old.close()
    await chat.recover()


async def test_a_turn_that_was_cut_off_has_failed_and_its_chat_is_told():
    chat = scene()
    running = await chat.say("hello", thread_id="t1")
    await crash(chat, running)

    assert chat.channel.sent == [("c1", "t1", INTERRUPTED)]
    assert [(event.type, event.message_id) for event in chat.channel.events] == [("failed", "msg1")]
    assert await chat.ledger.unfinished() == ()


async def test_a_message_of_a_turn_that_was_cut_off_is_not_asked_again_although_it_is_handed_out_meanwhile():
    chat = scene()
    running = await chat.say("hello", receipts=("r1",))
    await crash(chat, running)
    await chat.say("hello", receipts=("r1",))

    assert chat.prompted == ["hello"]
    assert chat.texts == [INTERRUPTED]


async def test_a_turn_that_was_cut_off_is_told_of_once():
    chat = scene()
    running = await chat.say("hello")
    await crash(chat, running)
    await crash(chat)

    assert chat.texts == []


async def test_an_answer_on_its_way_is_sent_and_what_may_have_arrived_says_so():
    chat = scene()
    chat.channel.limit = 4
    running = await chat.say("hello")
    chat.channel.gate = asyncio.Event()
    chat.bridge.answer("abcdefgh")
    await settle()
    await crash(chat, running)

    assert chat.texts == [f"{REPEAT_NOTE}\n\nabcd", "efgh"]
    assert chat.types == ["completed"]
    assert await chat.ledger.unfinished() == ()


async def test_parts_that_were_sent_are_not_sent_again():
    chat = scene()
    chat.channel.limit = 4
    running = await chat.say("hello")
    send = chat.channel.send_message
    stuck = asyncio.Event()

    async def send_first(chat_id, text, *, thread_id=None, delivery_id=None):
        if text == "efgh":
            await stuck.wait()
        return await send(chat_id, text, thread_id=thread_id)

    chat.channel.send_message = send_first
    chat.bridge.answer("abcdefghij")
    await settle()
    await crash(chat, running)

    assert chat.texts == [f"{REPEAT_NOTE}\n\nefgh", "ij"]


async def test_a_process_that_ends_tells_no_end_of_its_turns():
    chat = scene()
    running = await chat.say("hello")
    old = chat.channel
    await crash(chat, running)

    assert [event.type for event in old.events] == ["started"]


async def test_what_does_not_end_in_time_is_cut_off_and_told_by_the_next_start():
    chat = scene()
    inbox = VolatileInbox()
    await inbox.put(chat.message("one"), keys=["k1"])
    flow = Inflow(chat.channel, inbox)
    running = asyncio.create_task(flow.run())
    await settle()
    running.cancel()
    await flow.drain(limit_s=0)
    await crash(chat)

    assert chat.texts == [INTERRUPTED]


async def test_what_was_collected_when_the_process_ended_is_left_for_the_next():
    chat = scene(dispatch_mode="collect")
    running = await chat.say("one")
    await chat.say("two", receipts=("r2",))
    running.cancel()
    await settle()
    await chat.channel.close()

    assert chat.prompted == ["one"]
    assert [turn.record.receipts for turn in await chat.ledger.unfinished()] == [()]


class AwayLedger(VolatileLedger):
    """Settles nothing."""

    async def settle(self, receipts, settlement):
        await asyncio.get_running_loop().create_future()


async def test_a_channel_that_is_closed_does_not_wait_for_storage_that_is_away():
    chat = scene(dispatch_mode="followup")
    chat.ledger, chat.grace_s = AwayLedger(), 0
    chat.open()
    running = await chat.say("hello")
    await chat.say("this waits", receipts=("r2",))
    await chat.say("/clear")
    running.cancel()
    await settle()

    async with asyncio.timeout(10):
        await chat.channel.close()


async def test_a_channel_that_is_closed_does_not_wait_for_a_hook_that_never_returns():
    chat = scene()
    chat.grace_s = 0
    chat.open()
    hooked = asyncio.get_running_loop().create_future()
    chat.channel.on_prompt_start = lambda *_: hooked
    running = await chat.say("hello")
    running.cancel()
    await settle()

    async with asyncio.timeout(10):
        await chat.channel.close()
    assert hooked.cancelled()


async def test_blocks_that_were_not_sent_of_a_turn_that_was_cut_off_are_given_up():
    chat = scene(block_streaming=BlockStreaming(5, 12, 0))
    running = await chat.say("hello")
    chat.channel.gate = asyncio.Event()
    chat.bridge.write("first\n\nsecond")
    await settle()
    await crash(chat, running)

    assert chat.texts == [INTERRUPTED]
    assert await chat.outbox.unsent() == ()


async def told_after_a_crash(steps, **config):
    """What a chat was told in all of an answer whose process ended so many steps after it came."""
    chat = scene(**config)
    chat.ledger, chat.outbox = SlowLedger(), SlowOutbox()
    chat.open()
    chat.channel.limit = 4
    running = await chat.say("hello", receipts=("r1",))
    chat.bridge.write("abcd\n\nefghij")
    chat.bridge.answer("abcd\n\nefghij")
    for _ in range(steps):
        await asyncio.sleep(0)
    is_over = running.done()
    before = list(chat.texts)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await settle()
    chat.open()
    await chat.recover()
    assert await chat.ledger.unfinished() == ()
    assert await chat.outbox.unsent() == ()
    return is_over, [*before, *chat.texts], chat.types


@pytest.mark.parametrize("streaming", [None, BlockStreaming(2, 5, 0)])
async def test_wherever_a_process_ends_its_answer_arrives_whole_or_the_chat_is_told(streaming):
    outcomes = set()
    for steps in range(MOST_STEPS):
        is_over, texts, types = await told_after_a_crash(steps, block_streaming=streaming)
        if is_over:
            break
        is_told = INTERRUPTED in texts
        parts = (text.removeprefix(REPEAT_NOTE).replace("\n", "") for text in texts)
        assert is_told or "".join(dict.fromkeys(parts)) == "abcdefghij"
        assert types in ([], ["failed"] if is_told else ["completed"])
        outcomes.add(is_told)

    assert is_over
    assert outcomes == {True, False}


async def test_an_answer_on_its_way_that_can_t_be_sent_has_failed_and_no_part_of_it_follows():
    chat = scene()
    chat.channel.limit = 4
    running = await chat.say("hello")
    chat.channel.gate = asyncio.Event()
    chat.bridge.answer("abcdefgh")
    await settle()
    running.cancel()
    await settle()
    chat.open()
    chat.channel.refuses = 1
    await chat.recover()

    assert chat.texts == []
    assert [(event.type, event.phase) for event in chat.channel.events] == [("failed", "delivery")]
    assert (await chat.outbox.unsent(), await chat.ledger.unfinished()) == ((), ())


async def test_a_message_on_its_way_that_the_adapter_has_a_fault_with_keeps_no_channel_from_starting():
    chat = scene()
    target = chat.message("hello").target
    other = target.model_copy(update={"chat_id": "c2"})
    await chat.outbox.add([OutboundPart("k1", target, "poison"), OutboundPart("k2", other, "after it")])
    send = chat.channel.send_message

    async def send_unless_poison(chat_id, text, **place):
        if "poison" in text:
            raise KeyError("message_id")
        return await send(chat_id, text, thread_id=place["thread_id"])

    chat.channel.send_message = send_unless_poison
    await chat.recover()

    assert chat.texts == ["after it"]
    assert await chat.outbox.unsent() == ()


async def restarted_while_an_answer_hangs():
    """A channel that was started anew, an answer to chat c1 on its way, and what lets that arrive."""
    chat = scene()
    await chat.outbox.add([OutboundPart("k1", chat.message("hello").target, "slow")])
    send, free = chat.channel.send_message, asyncio.Event()

    async def send_slowly(chat_id, text, **place):
        if text == "slow":
            await free.wait()
        return await send(chat_id, text, thread_id=place["thread_id"])

    chat.channel.send_message = send_slowly
    await chat.recover()
    return chat, free


async def test_an_answer_on_its_way_that_hangs_holds_up_no_other_chat():
    chat, _ = await restarted_while_an_answer_hangs()
    await chat.say("/status", chat_id="c2")

    assert [chat_id for chat_id, _, _ in chat.channel.sent] == ["c2"]


@pytest.mark.parametrize("steps", range(12))
async def test_in_its_own_chat_what_was_on_its_way_comes_first_and_new_messages_keep_their_order(steps):
    chat, free = await restarted_while_an_answer_hangs()

    async def repeat(envelope, words):
        await chat.channel.reply(envelope, words)
        return True

    chat.channel.register_command("repeat", repeat)
    for text in ("first", "second"):
        await chat.say(f"/repeat {text}")
    assert chat.texts == []
    free.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    await chat.say("/repeat third")

    assert chat.texts == ["slow", "first", "second", "third"]


async def test_what_hangs_at_the_next_stop_is_sent_by_the_start_after_it():
    chat, free = await restarted_while_an_answer_hangs()
    waiting = await chat.say("first", receipts=("r1",))
    waiting.cancel()
    await chat.channel.close()
    free.set()
    await settle()
    assert [part.key for part in await chat.outbox.unsent()] == ["k1"]
    assert chat.texts == []
    chat.open()
    await chat.recover()

    assert chat.texts == [f"{REPEAT_NOTE}\n\nslow"]


async def test_parts_of_a_turn_that_has_ended_are_given_up():
    chat = scene()
    target = chat.message("hello").target
    await chat.outbox.add([OutboundPart("k1", target, "of a cancelled turn", "turn-1")])
    await chat.recover()

    assert chat.texts == []
    assert await chat.outbox.unsent() == ()
