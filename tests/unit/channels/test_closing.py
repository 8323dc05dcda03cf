"""What a channel gives up when it is closed, and what it still sees through."""

import asyncio

from channels.arrivals import Arrival, Media
from channels.config import ChannelConfig
from channels.files import Files
from channels.intake import Intake
from channels.parts import TURN_LIMIT_MS
from channels.volatile import VolatileInbox, VolatileLedger
from tests.support.channels.scene import HandTimers, StubbornPairing, scene, settle


class LateLedger(VolatileLedger):
    """Settles when it is let."""

    def __init__(self):
        super().__init__()
        self.may_settle = asyncio.Event()
        self.settled = []

    async def settle(self, receipts, settlement):
        await self.may_settle.wait()
        self.settled.append((*receipts, settlement))


async def test_a_collected_message_that_is_being_answered_keeps_nobody_from_closing():
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    await chat.say("two")
    chat.bridge.answer("done")
    await settle()
    assert chat.prompted == ["one", "two"]

    closing = asyncio.create_task(chat.channel.close())
    await settle()

    assert closing.done()


async def test_a_turn_whose_time_is_up_is_not_told_of_by_a_channel_that_was_closed():
    chat = scene()
    chat.bridge.verdicts = []
    await chat.say("one")
    await chat.later(TURN_LIMIT_MS)
    await chat.channel.close()
    await chat.later(TURN_LIMIT_MS)

    assert chat.texts == []


async def test_what_is_being_settled_is_settled_when_a_channel_has_closed():
    chat = scene(dispatch_mode="collect")
    chat.ledger = ledger = LateLedger()
    chat.open()
    await chat.say("one")
    await chat.say("two", receipts=("r2",))
    await chat.say("/clear")
    closing = asyncio.create_task(chat.channel.close())
    await settle()
    assert not closing.done()

    ledger.may_settle.set()
    await settle()

    assert closing.done()
    assert ledger.settled == [("r2", "dropped")]


async def test_a_complaint_that_is_being_said_ends_when_the_intake_closes():
    said, ended = [], []

    async def reply(_envelope, text):
        said.append(text)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(text)

    config = ChannelConfig(name="chat", type="test", cwd="/srv/work", sender_policy="open")
    timers, pairing = HandTimers(), StubbornPairing()
    files = Files(NoFiles(), folder=None, timers=timers)
    intake = Intake(config, VolatileInbox(), files=files, pairing=pairing, reply=reply)
    note = Media("f1", "file", "text/plain", "notes.txt")
    await intake.take(Arrival(scene().message("look"), (note,), ("k1",)))
    await settle()

    closing = asyncio.create_task(intake.close())
    await settle()

    assert closing.done()
    assert len(said) == 1
    assert ended == said


class NoFiles:
    """A chat service of which nothing is asked."""

    async def download(self, media):
        raise AssertionError(media)
