"""A channel on real stores, driven by a list of actions, and the model that its outcome is held against.

Nothing depends on time or threads: the stores are asked on the event loop, and the clock stands still.
"""

import asyncio
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from channels.config import ChannelConfig, DispatchMode
from channels.envelope import Envelope
from channels.inflow import Inflow
from channels.parts import ChannelParts
from channels.replies import BUSY
from core.ids import new_uuid
from events.chat.store import ChannelStore
from events.connect import connect
from memlane.channels.stores import Patience, StoredInbox, StoredLedger, StoredOutbox, StoredRoutes
from tests.support.channels.scene import HandTimers, RecordingChannel, StubbornPairing
from tests.support.channels.scripted_bridge import ScriptedBridge
from tests.support.lane import fresh_workspace_id

CHATS = 20
ROUNDS = 40
TOKEN = re.compile(r"<(\d+)>")
ANSWER = re.compile(r"answer (\d+-\d+)")


class OnTheLoop(Patience):
    """Asks at once."""

    async def ask_once(self, call):
        await asyncio.sleep(0)
        return call()


class RungInbox(StoredInbox):
    """Looks until there is nothing, and again when it is told that there is something."""

    def __init__(self, store, patience):
        super().__init__(store, patience)
        self.bell = asyncio.Event()

    async def put(self, envelope, *, keys):
        is_new = await super().put(envelope, keys=keys)
        self.bell.set()
        return is_new

    async def take(self):
        while not (messages := self.look(wait_ms=None)):
            self.bell.clear()
            await self.bell.wait()
        return messages


class NumberedBridge(ScriptedBridge):
    """An agent of one process's life; its sessions are those of no other."""

    def __init__(self, life):
        super().__init__()
        self.life = life

    async def new_session(self, cwd, *, mode=None, model=None):
        self.sessions.append(f"{self.life}-{len(self.sessions)}")
        return self.sessions[-1]

    async def load_session(self, session_id, *, cwd):
        self.lost_sessions.add(session_id)
        return await super().load_session(session_id, cwd=cwd)


@dataclass
class Said:
    """What somebody wrote.

    Attributes:
        at: number of the action.
    """

    number: int
    chat: int
    at: int
    envelope: object


@dataclass
class World:
    """The whole: what was said, every life of the process, what came out."""

    redis_url: str
    mode: DispatchMode
    said: list[Said] = field(default_factory=list)
    drops: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    prompts: list[tuple[str, str]] = field(default_factory=list)
    sent: list[tuple[str, str]] = field(default_factory=list)
    started: int = 0
    sent_asleep: int = 0
    most_at_once: int = 0
    life: int = 0
    now: int = 0
    acted: list[tuple[str, int, int]] = field(default_factory=list)

    def __post_init__(self):
        self.workspace = fresh_workspace_id()
        self.store = self.claimed()
        self.config = ChannelConfig(
            name="soak", type="test", cwd="/srv", sender_policy="open", dispatch_mode=self.mode
        )

    def claimed(self):
        """The store of a process to which the channel was given just now."""
        store = ChannelStore(connect(self.redis_url), self.workspace, "soak")
        store.claim(new_uuid(), life_ms=0)
        return store

    async def begin(self):
        self.life += 1
        patience = OnTheLoop()
        self.bridge, self.timers = NumberedBridge(self.life), HandTimers()
        parts = ChannelParts(
            pairing=StubbornPairing(),
            ledger=StoredLedger(self.store, patience),
            outbox=StoredOutbox(self.store, patience),
            routes=StoredRoutes(self.store, patience),
            timers=self.timers,
        )
        self.channel = RecordingChannel(self.config, bridge=self.bridge, parts=parts)
        self.inbox = RungInbox(self.store, patience)
        self.flow = Inflow(self.channel, self.inbox)
        await self.channel.recover()
        self.running = asyncio.create_task(self.flow.run())
        await self.settle()

    async def stop(self):
        """End the process wherever it is."""
        self.running.cancel()
        await self.flow.drain(limit_s=0)
        await self.channel.close()
        for prompt in self.bridge.prompts:
            prompt.answer.cancel()
        self.note()

    def note(self):
        self.sent += [(f"{self.life}", text) for _, _, text in self.channel.sent]
        self.prompts += [(f"{self.life}-{n}", prompt.text) for n, prompt in enumerate(self.bridge.prompts)]
        self.started += sum(event.type == "started" for event in self.channel.events)
        self.most_at_once = max(self.most_at_once, self.bridge.most_prompts_at_once)

    async def settle(self):
        for _ in range(ROUNDS):
            await asyncio.sleep(0)

    async def act(self, action, chat, choice):
        self.now += 1
        self.acted.append((action, chat, choice))
        await getattr(self, f"do_{action}")(chat, choice)

    async def say(self, text, chat, *, name):
        envelope = Envelope(
            channel_name="soak",
            sender_id=f"u{chat}",
            sender_name="Ann",
            chat_id=f"c{chat}",
            text=text,
            message_id=name,
        )
        assert await self.inbox.put(envelope, keys=[name])
        return envelope

    async def do_say(self, chat, _choice):
        number = len(self.said)
        envelope = await self.say(f"message <{number}>", chat, name=f"m{number}")
        self.said.append(Said(number, chat, self.now, envelope))
        await self.settle()

    async def do_burst(self, chat, choice):
        for offset in range(3):
            await self.do_say((chat + offset * (choice % 2)) % CHATS, choice)

    async def do_hurry(self, chat, _choice):
        number = len(self.said)
        envelope = await self.say(f"message <{number}>", chat, name=f"m{number}")
        self.said.append(Said(number, chat, self.now, envelope))

    async def do_repeat(self, _chat, choice):
        if self.said:
            one = self.said[choice % len(self.said)]
            assert not await self.inbox.put(one.envelope, keys=[one.envelope.message_id])

    async def do_cancel(self, chat, _choice):
        self.drops[chat].append(self.now)
        await self.say("/cancel", chat, name=f"cancel{self.now}")
        await self.settle()

    async def do_clear(self, chat, _choice):
        self.drops[chat].append(self.now)
        await self.say("/clear", chat, name=f"clear{self.now}")
        await self.settle()

    async def do_answer(self, _chat, choice):
        await self._end(choice, lambda n: self.bridge.answer(f"answer {self.life}-{n}", number=n))

    async def do_fail(self, _chat, choice):
        await self._end(choice, lambda n: self.bridge.fail("broken", number=n))

    async def do_die(self, _chat, choice):
        waiting = self.waiting()
        if waiting:
            self.bridge.die(self.bridge.prompts[waiting[choice % len(waiting)]].session_id)
            await self.settle()

    async def do_wait(self, _chat, _choice):
        self.timers.pass_ms(3_000)
        await self.settle()

    async def do_restart(self, _chat, _choice):
        await self.stop()
        await self.begin()

    async def do_sleep(self, _chat, choice):
        """Another process is given the channel; this one wakes, and goes on as if nothing had happened."""
        before, other = len(self.channel.sent), self.claimed()
        for _ in range(choice % 4):
            await self.do_answer(0, 0)
        await self.settle()
        self.sent_asleep += len(self.channel.sent) - before
        await self.stop()
        self.store = other
        await self.begin()

    async def _end(self, choice, end):
        waiting = self.waiting()
        if waiting:
            end(waiting[choice % len(waiting)])
            await self.settle()

    def asked_twice(self):
        """Numbers of the messages that agents were asked more than once, so far."""
        now = [prompt.text for prompt in self.bridge.prompts]
        texts = [text for life, text in self.prompts if not life.startswith(f"{self.life}-")]
        asked = Counter(number for text in [*texts, *now] for number in TOKEN.findall(text))
        return [number for number, times in asked.items() if times > 1]

    def waiting(self):
        """Numbers of the prompts that have no answer yet."""
        return [n for n, prompt in enumerate(self.bridge.prompts) if not prompt.answer.done()]

    async def finish(self):
        """Answer all that waits until nothing does."""
        while self.waiting():
            await self.do_answer(0, 0)
        self.timers.pass_ms(3_000)
        await self.settle()
        while self.waiting():
            await self.do_answer(0, 0)
        await self.stop()


def faults(world):
    """What is not as promised; empty when all is well."""
    found = []
    if world.most_at_once > 1:
        found.append(f"{world.most_at_once} prompts of a session at once")
    if world.store.unfinished():
        found.append("turns without an end")
    if world.store.unsent():
        found.append("messages that were not sent")
    if world.store.read(after="0", wait_ms=None):
        found.append("messages that were not settled")
    if world.sent_asleep:
        found.append(f"{world.sent_asleep} messages were sent by who had lost the channel")
    turns = [
        world.store._redis.hgetall(key)
        for key in world.store._redis.scan_iter(f"{world.store._keys.base}:turn:*")
    ]
    if any(turn.get("terminalEvent") not in ("completed", "cancelled", "failed") for turn in turns):
        found.append("a turn without a terminal event")
    cut_off = world.started - len(turns)  # a process may end between telling of a turn and noting it
    if cut_off < 0 or (cut_off and world.life == 1):
        found.append(f"{world.started} turns started, {len(turns)} on record")
    found += _about_messages(world)
    found += _about_answers(world, Counter(turn["terminalEvent"] for turn in turns))
    return found


def _about_messages(world):
    asked = Counter(int(number) for _, text in world.prompts for number in TOKEN.findall(text))
    refused = sum(text == BUSY for _, text in world.sent)
    missing = [one for one in world.said if not asked[one.number]]
    for one in world.said:
        if asked[one.number] > 1:
            yield f"message {one.number} was asked {asked[one.number]} times"
    excused = [one for one in missing if any(at >= one.at for at in world.drops[one.chat])]
    if len(missing) - len(excused) > refused:
        yield f"messages were lost: {[one.number for one in missing if one not in excused]}"


def _about_answers(world, ends):
    told = Counter(name for _, text in world.sent for name in ANSWER.findall(text))
    for name, count in told.items():
        if count > 1:
            yield f"answer {name} was sent {count} times"
    if len(told) < ends["completed"]:
        yield f"{ends['completed']} turns completed, {len(told)} answers were sent"


def play(redis_url, mode, actions):
    """Have a list of actions happen; what is not as promised afterwards."""

    async def run():
        world = World(redis_url, mode)
        await world.begin()
        for action, chat, choice in actions:
            await world.act(action, chat % CHATS, choice)
        await world.finish()
        return world

    return faults(asyncio.run(run()))
