"""One channel, served by a process."""

import asyncio
import json
from itertools import accumulate
from typing import TYPE_CHECKING

import pytest

from channels.health import ChannelHealth
from channels.parts import ChannelParts
from channels.volatile import VolatileInbox
from core.ids import WorkspaceId
from events.chat.announcing import Announcer
from events.chat.board import ChannelBoard, KnownChannel
from events.chat.store import ChannelStore, Lease
from events.connect import connect
from events.log import EventLog
from memlane.channels.events import TurnEvents
from memlane.channels.serving import USUAL, Opened, Pace, ServedChannel
from memlane.channels.stores import Patience
from tests.support.channels.scene import RecordingChannel, StubbornPairing, scene, settle
from tests.support.channels.scripted_bridge import ScriptedBridge
from tests.support.lane import fresh_workspace_id
from tests.support.redis_proxy import redis_proxy
from tests.support.waiting import until

if TYPE_CHECKING:
    from channels.lifecycle import ChannelTaskLifecycleEvent


class AwkwardChannel(RecordingChannel):
    """Can be told to fail where adapters may."""

    def __init__(self, bridge, *, faults, connected):
        config = scene().config
        super().__init__(config, bridge=bridge, parts=ChannelParts(pairing=StubbornPairing()))
        self.faults = faults
        self.connected = connected
        self.last_words: list[ChannelTaskLifecycleEvent] = []

    async def connect(self):
        await super().connect()
        self._fail_if_told("connect")
        self.connected.set()

    async def disconnect(self):
        await super().disconnect()
        self._fail_if_told("disconnect")

    async def close(self):
        await super().close()
        for event in self.last_words:
            for listener in self._engine.workings.observer.listeners:
                listener(event)

    def hears(self, state, reason):
        self._health = ChannelHealth(state, 1, reason)

    def _fail_if_told(self, where):
        if where in self.faults:
            self.faults.remove(where)
            raise RuntimeError("a fault of the adapter")


class Site:
    """A channel, the channels that were made to serve it, and the process that does."""

    def __init__(self, redis_url, *, faults=(), pace=None):
        self.workspace = fresh_workspace_id()
        self.url = redis_url
        self.bridge = ScriptedBridge()
        self.inbox = VolatileInbox()
        self.faults = list(faults)
        self.made: list[AwkwardChannel] = []
        self.connected = asyncio.Event()
        self.served = ServedChannel("chat", self.store(), self.open, pace=pace or Pace(first_pause_s=0.001))

    def store(self):
        return ChannelStore(connect(self.url), WorkspaceId(self.workspace), "chat")

    def open(self):
        channel = AwkwardChannel(self.bridge, faults=self.faults, connected=self.connected)
        self.made.append(channel)
        events = TurnEvents(Announcer(connect(self.url)), self.workspace)
        return Opened(channel, self.inbox, events)

    async def serving(self):
        """Serve until a channel has connected."""
        running = asyncio.create_task(self.served.run())
        await self.connected.wait()
        return running


async def ended(running):
    running.cancel()
    await asyncio.wait({running}, timeout=10)
    return running.cancelled()


async def test_how_a_channel_is_is_told_to_who_looks_on(redis_url):
    site = Site(redis_url, pace=Pace(renew_s=0.01))
    board = ChannelBoard(connect(redis_url), [KnownChannel("chat", "loopback", site.workspace)])
    running = await site.serving()
    site.made[0].hears("unhealthy", "the chat service is away")

    await asyncio.to_thread(until, lambda: board.standings()[0].state == "unhealthy")
    deaf = board.standings()[0]
    assert (deaf.state, deaf.reason) == ("unhealthy", "the chat service is away")
    assert await ended(running)
    assert board.standings()[0].state == "unserved"


async def test_an_earlier_failure_is_not_told_of_a_channel_that_was_left_in_good_order(redis_url):
    site = Site(redis_url, faults=["connect"])
    board = ChannelBoard(connect(redis_url), [KnownChannel("chat", "loopback", site.workspace)])
    running = await site.serving()

    assert await ended(running)
    assert (board.standings()[0].state, board.standings()[0].reason) == ("unserved", None)


async def test_why_an_adapter_could_not_serve_is_told(redis_url):
    site = Site(redis_url, faults=["connect"], pace=Pace(first_pause_s=60))
    running = asyncio.create_task(site.served.run())
    board = ChannelBoard(connect(redis_url), [KnownChannel("chat", "loopback", site.workspace)])

    await asyncio.to_thread(until, lambda: board.standings()[0].state == "stopped")

    assert board.standings()[0].reason == "the adapter has a fault, see the log"
    assert await ended(running)


async def test_an_adapter_with_a_fault_is_made_anew_and_told_to_disconnect(redis_url):
    site = Site(redis_url, faults=["connect"])
    running = await site.serving()

    assert [channel.log for channel in site.made] == [["connect", "disconnect"], ["connect"]]
    assert await ended(running)


def test_tries_come_further_and_further_apart_up_to_a_minute():
    pauses_s = list(accumulate(range(9), lambda before_s, _: USUAL.pause_s(before_s=before_s), initial=0.0))

    assert pauses_s[1:] == [1, 2, 4, 8, 16, 32, 60, 60, 60]


async def test_who_is_told_to_stop_stops_although_the_adapter_can_t_disconnect(redis_url):
    site = Site(redis_url, faults=["disconnect"])
    running = await site.serving()

    assert await ended(running)
    assert isinstance(site.store().claim("next", life_ms=1), Lease)


async def test_what_runs_at_the_stop_is_answered_although_the_adapter_can_t_disconnect(redis_url):
    site = Site(redis_url, faults=["disconnect"])
    running = await site.serving()
    channel = site.made[-1]
    await site.inbox.put(scene().message("hello"), keys=["k"])
    await settle()
    running.cancel()
    await settle()
    site.bridge.answer("hi")

    assert await ended(running)
    assert channel.sent == [("c1", None, "hi")]


@pytest.fixture
def turn_events():
    """Events of one turn, as observers are told of them."""

    async def events():
        chat = scene()
        await chat.say("hello")
        chat.bridge.answer("hi")
        await settle()
        return chat.channel.events

    return asyncio.run(events())


async def told(url, workspace, events, *, count):
    announced = TurnEvents(Announcer(connect(url, retries=0)), workspace, patience=Patience(pause_s=0))
    for event in events:
        announced.take(event)
    running = asyncio.create_task(announced.run())
    log = EventLog(connect(url))
    await asyncio.to_thread(until, lambda: len(log.read(workspace, after=0)) >= count)
    running.cancel()
    return [one.type for one in log.read(workspace, after=0)]


async def test_an_event_whose_log_was_away_is_told_when_it_is_back(redis_server, turn_events):
    workspace = fresh_workspace_id()
    with redis_proxy(redis_server.state_url) as proxy:
        proxy.lose_reply("channel_task_started")
        types = await told(proxy.url(0), workspace, turn_events, count=3)

    assert types == ["channel_task_started", "channel_task_started", "channel_task_completed"]


async def test_a_log_that_is_away_does_not_hold_up_the_end(turn_events):
    announced = TurnEvents(Announcer(connect("redis://127.0.0.1:1", retries=0)), fresh_workspace_id())
    for event in turn_events:
        announced.take(event)

    await announced.flush()


async def test_what_a_channel_tells_at_its_very_end_is_in_the_log(redis_url, turn_events):
    site = Site(redis_url)
    running = await site.serving()
    site.made[0].last_words = turn_events
    assert await ended(running)

    told_at_last = EventLog(connect(redis_url)).read(site.workspace, after=0)
    assert [one.type for one in told_at_last] == [f"channel_task_{event.type}" for event in turn_events]


async def test_no_event_in_the_log_repeats_what_was_said(redis_url):
    chat = scene()
    await chat.say("Which word was kumquat?")
    chat.bridge.use_tool(kind="search", title="Search memory for kumquat")
    chat.bridge.write("kumquat is")
    chat.bridge.answer("kumquat is a fruit")
    await settle()
    workspace = fresh_workspace_id()
    events = TurnEvents(Announcer(connect(redis_url)), workspace)
    for event in chat.channel.events:
        events.take(event)
    await events.flush()

    told = EventLog(connect(redis_url)).read(workspace, after=0)
    assert [one.type.removeprefix("channel_task_") for one in told] == [
        *("started", "tool_call", "text_chunk", "completed"),
    ]
    tool_call = {"sessionId": "s1", "toolCallId": "t1", "kind": "search", "status": "pending"}
    assert json.loads(told[1].data_json)["toolCall"] == tool_call
    assert "kumquat" not in str(told)
