"""Who serves a channel, and what happens when that goes wrong; real Redis, a scripted agent."""

import asyncio
import json

import pytest

from channels.config import ChannelConfig
from channels.envelope import Envelope
from channels.errors import ChatServiceUnreachable, DeliveryFailed
from channels.parts import ChannelParts
from channels.replies import INTERRUPTED
from core.ids import WorkspaceId
from events.chat.announcing import open_announcer
from events.chat.store import ChannelStore
from events.connect import connect
from events.log import EventLog
from memlane.channels.events import TurnEvents
from memlane.channels.serving import Opened, Pace, ServedChannel
from memlane.channels.stores import (
    Patience,
    StoredInbox,
    StoredLedger,
    StoredOutbox,
    StoredRoutes,
    put_message,
)
from tests.support.channels.scene import RecordingChannel, StubbornPairing
from tests.support.channels.scripted_bridge import ScriptedBridge
from tests.support.lane import fresh_workspace_id
from tests.support.redis_proxy import redis_proxy

LOOK_S = 0.005
LOOKS = 6_000
QUICK = Pace(lease_ms=60_000, renew_s=0.02, first_pause_s=0.01, longest_pause_s=0.02, drain_s=0.1)
CONFIG = ChannelConfig(name="team", type="test", cwd="/srv", sender_policy="open")


class Telling(RecordingChannel):
    """Lets the test wait for what it sees."""

    def __init__(self, config, *, bridge, parts):
        super().__init__(config, bridge=bridge, parts=parts)
        self.news = asyncio.Event()
        self.refuses_to_connect = 0
        self.deafness = asyncio.Event()

    async def connect(self):
        await super().connect()
        self.news.set()
        if self.refuses_to_connect:
            raise DeliveryFailed("no such token")

    async def watch(self):
        await self.deafness.wait()
        raise ChatServiceUnreachable("the token was revoked")

    async def send_message(self, chat_id, text, *, thread_id=None, delivery_id=None):
        sent = await super().send_message(chat_id, text, thread_id=thread_id)
        self.news.set()
        return sent

    def on_task_lifecycle(self, event):
        super().on_task_lifecycle(event)
        self.news.set()


class Process:
    """One process that would serve the channel."""

    def __init__(self, redis_url, workspace, *, pace=QUICK, broken=0):
        self.workspace = workspace
        self.url = redis_url
        self.store = ChannelStore(connect(redis_url), workspace, "team")
        self.channels = []
        self.bridge = ScriptedBridge()
        self.broken = broken
        self.served = ServedChannel("team", self.store, self.open, pace=pace)
        self.task = asyncio.create_task(self.served.run())

    def open(self):
        patience = Patience(pause_s=0.01)
        parts = ChannelParts(
            pairing=StubbornPairing(),
            ledger=StoredLedger(self.store, patience),
            outbox=StoredOutbox(self.store, patience),
            routes=StoredRoutes(self.store, patience),
        )
        channel = Telling(CONFIG, bridge=self.bridge, parts=parts)
        channel.refuses_to_connect = self.broken > len(self.channels)
        self.channels.append(channel)
        events = TurnEvents(open_announcer(self.url), self.workspace)
        return Opened(channel, StoredInbox(self.store, patience), events)

    def say(self, text, *, key):
        message = Envelope(
            channel_name="team", sender_id="u1", sender_name="Ann", chat_id="c1", text=text, message_id=key
        )
        return put_message(self.store, message, keys=[key])

    async def until(self, condition):
        for _ in range(LOOKS):
            if condition(self):
                return
            await asyncio.sleep(LOOK_S)
        raise AssertionError("it did not happen")

    async def stop(self):
        self.task.cancel()
        await asyncio.wait({self.task})


@pytest.fixture
def place(redis_url):
    workspace = fresh_workspace_id()
    return lambda **facts: Process(redis_url, workspace, **facts)


def prompted(number=1):
    return lambda process: len(process.bridge.prompts) >= number


def sent(number=1):
    return lambda process: bool(process.channels) and len(process.channels[-1].sent) >= number


async def test_a_message_is_answered_and_the_turn_told_in_the_log(place, redis_url):
    process = place()
    process.say("hello", key="m1")
    await process.until(prompted())
    process.bridge.write("H")
    process.bridge.write("i")
    process.bridge.answer("Hi")
    await process.until(sent())
    await process.stop()

    told = EventLog(connect(redis_url)).read(WorkspaceId(process.workspace), after=0)
    assert [event.type for event in told] == [
        *("channel_task_started", "channel_task_text_chunk", "channel_task_completed"),
    ]
    first, piece = json.loads(told[0].data_json), json.loads(told[1].data_json)
    assert (first["chatId"], first["messageId"], first["identity"]["id"]) == ("c1", "m1", "channel:team")
    assert "chunk" not in piece


async def test_a_repeat_of_a_message_is_answered_once_also_after_a_restart(place):
    first = place()
    assert first.say("hello", key="m1")
    assert not first.say("hello", key="m1")
    await first.until(prompted())
    first.bridge.answer("Hi")
    await first.until(sent())
    await first.stop()
    second = place()
    assert not second.say("hello", key="m1")
    second.say("again", key="m2")
    await second.until(prompted())
    await second.stop()

    assert [prompt.text for prompt in second.bridge.prompts] == ["again"]


async def test_of_two_processes_one_serves_and_the_other_takes_over_at_its_end(place):
    first = place()
    await first.until(lambda process: process.channels)
    second = place()
    first.say("one", key="m1")
    await first.until(prompted())
    assert second.channels == []
    first.bridge.answer("x")
    await first.until(sent())
    await first.stop()
    first.say("two", key="m2")
    await second.until(prompted())
    await second.stop()

    assert [prompt.text for prompt in second.bridge.prompts] == ["two"]


async def test_a_process_that_lost_the_channel_stops_serving_and_answers_nothing(place):
    first = place(pace=Pace(lease_ms=0, renew_s=0.02, first_pause_s=60, longest_pause_s=60))
    first.say("hello", key="m1")
    await first.until(prompted())
    second = place()
    await second.until(sent())
    await first.until(lambda process: "disconnect" in process.channels[0].log)
    assert first.bridge.prompts[0].answer.cancelled()
    await first.stop()
    await second.stop()

    assert first.channels[0].sent == []
    assert [text for _, _, text in second.channels[-1].sent] == [INTERRUPTED]


async def test_a_process_that_slept_while_another_served_and_left_begins_anew(place, redis_url):
    process = place(pace=Pace(lease_ms=0, renew_s=0.02, first_pause_s=0.01))
    process.say("hello", key="m1")
    await process.until(prompted())
    ChannelStore(connect(redis_url), process.workspace, "team").claim("other", life_ms=0)
    await process.until(lambda one: len(one.channels) == 2)
    await process.until(sent())
    await process.stop()

    assert process.bridge.prompts[0].answer.cancelled()
    assert [[text for _, _, text in channel.sent] for channel in process.channels] == [[], [INTERRUPTED]]


async def test_what_was_cut_off_by_a_stop_is_told_by_the_next_process(place):
    first = place()
    first.say("hello", key="m1")
    await first.until(prompted())
    first.task.cancel()
    first.bridge.die("s1", reason="the process ends")
    await asyncio.wait({first.task})
    second = place()
    first.say("again", key="m2")
    await second.until(prompted())
    second.bridge.answer("Hi")
    await second.until(sent())
    await second.stop()

    texts = [
        text for process in (first, second) for channel in process.channels for _, _, text in channel.sent
    ]
    assert texts == ["Sorry, that failed: the process ends", "Hi"]


async def test_what_was_cut_off_is_told_once_the_chat_service_is_there(place):
    first = place()
    first.say("hello", key="m1")
    await first.until(prompted())
    await first.stop()
    second = place(broken=1)
    await second.until(sent())
    await second.stop()

    assert [[text for _, _, text in channel.sent] for channel in second.channels] == [[], [INTERRUPTED]]


async def test_a_channel_that_can_t_connect_is_tried_again(place):
    process = place(broken=2)
    process.say("hello", key="m1")
    await process.until(prompted())
    await process.stop()

    assert len(process.channels) == 3


async def test_a_channel_that_hears_no_more_is_opened_anew(place):
    process = place()
    await process.until(lambda one: one.channels and "connect" in one.channels[0].log)
    process.channels[0].deafness.set()
    await process.until(lambda one: len(one.channels) == 2)
    process.say("still there?", key="m1")
    await process.until(prompted())
    process.bridge.answer("Yes")
    await process.until(sent())
    await process.stop()

    assert "disconnect" in process.channels[0].log
    assert process.channels[1].sent == [("c1", None, "Yes")]


async def test_a_channel_is_served_all_the_time_although_answers_about_its_lease_are_lost(redis_server):
    with redis_proxy(redis_server.state_url) as proxy:
        claims = [proxy.lose_reply("starting") for _ in range(2)]
        renewals = [proxy.lose_reply("connected") for _ in range(2)]
        process = Process(proxy.url(0), fresh_workspace_id())
        await process.until(lambda _: all(cut.happened.is_set() for cut in (*claims, *renewals)))
        process.say("hello", key="m1")
        await process.until(prompted())
        await process.stop()

    assert [channel.log[0] for channel in process.channels] == ["connect"]


async def test_after_a_channel_was_served_it_is_tried_again_as_soon_as_at_first(place):
    asked = []

    class Noting(Pace):
        """Remembers what it was asked, and waits for next to nothing."""

        def pause_s(self, *, before_s):
            asked.append(before_s)
            return 0.002 if before_s else 0.001

    process = place(pace=Noting(renew_s=0.02, drain_s=0), broken=2)
    process.say("hello", key="m1")
    await process.until(prompted())
    process.channels[-1].deafness.set()
    await process.until(lambda _: len(asked) == 3)
    await process.stop()

    assert asked == [0, 0.001, 0]
