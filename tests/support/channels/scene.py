"""One channel with a scripted agent, and a record of all that an adapter saw and sent."""

import asyncio
from dataclasses import dataclass, field

from channels.base import ChannelBase
from channels.config import ChannelConfig
from channels.envelope import Envelope
from channels.errors import DeliveryFailed
from channels.memory_lane import ChatMemory
from channels.parts import ChannelParts
from channels.volatile import VolatileLedger, VolatileOutbox, VolatileRoutes
from tests.support.channels.scripted_bridge import ScriptedBridge

ROUNDS = 60


class HandTimers:
    """Time that passes when the test says so."""

    def __init__(self):
        self.now_ms = 0
        self._waiting = []

    def call_later(self, delay_ms, callback):
        entry = [self.now_ms + delay_ms, callback]
        self._waiting.append(entry)
        return lambda: self._waiting.remove(entry) if entry in self._waiting else None

    def pass_ms(self, duration_ms):
        self.now_ms += duration_ms
        due = sorted((one for one in self._waiting if one[0] <= self.now_ms), key=lambda one: one[0])
        for entry in due:
            if entry in self._waiting:
                self._waiting.remove(entry)
                entry[1]()


class StubbornPairing:
    """Lets in who is named; tells everybody else the same."""

    def __init__(self, *approved):
        self.approved = set(approved)

    def is_approved(self, sender_id):
        return sender_id in self.approved

    def invite(self, sender_id, *, sender_name, is_group):
        return "Your pairing code is ABCD2345."


class RecordingChannel(ChannelBase):
    """Remembers what it was told and what it sent, in one list."""

    def __init__(self, config, *, bridge, parts):
        super().__init__(config, bridge=bridge, parts=parts)
        self.log = []
        self.events = []
        self.sent = []
        self.refuses = 0  # so many sends fail
        self.gate = None  # an asyncio.Event that holds sends back
        self.limit = None
        self.raises_in = set()

    async def connect(self):
        self.log.append("connect")

    async def disconnect(self):
        self.log.append("disconnect")

    async def send_message(self, chat_id, text, *, thread_id=None, delivery_id=None):
        if self.gate is not None:
            await self.gate.wait()
        if self.refuses:
            self.refuses -= 1
            raise DeliveryFailed("the chat service said no")
        self.log.append(f"send {text}")
        self.sent.append((chat_id, thread_id, text))
        return f"m{len(self.sent)}"

    def split_message(self, text):
        if self.limit is None:
            return (text,)
        return [text[start : start + self.limit] for start in range(0, len(text), self.limit)]

    def on_task_lifecycle(self, event):
        self._note(event.type if event.type != "cancelled" else f"cancelled {event.reason}")
        self.events.append(event)
        self._maybe_raise("on_task_lifecycle")

    def on_prompt_start(self, chat_id, session_id, message_id):
        self._note("start hook")
        self._maybe_raise("on_prompt_start")

    def on_response_chunk(self, chat_id, chunk, session_id):
        self._note(f"chunk hook {chunk}")
        self._maybe_raise("on_response_chunk")

    def on_tool_call(self, chat_id, call):
        self._note(f"tool hook {chat_id}")
        self._maybe_raise("on_tool_call")

    def on_prompt_end(self, chat_id, session_id, message_id):
        self._note("end hook")
        self._maybe_raise("on_prompt_end")

    def _note(self, what):
        self.log.append(what)

    def _maybe_raise(self, hook):
        if hook in self.raises_in:
            raise RuntimeError("the adapter's own fault")


@dataclass
class Scene:
    """A channel under test.

    Messages are sent by ``say``, which does not wait for their end; ``settle`` lets all happen that can.
    """

    config: ChannelConfig
    bridge: ScriptedBridge = field(default_factory=ScriptedBridge)
    timers: HandTimers = field(default_factory=HandTimers)
    ledger: VolatileLedger = field(default_factory=VolatileLedger)
    outbox: VolatileOutbox = field(default_factory=VolatileOutbox)
    routes: VolatileRoutes = field(default_factory=VolatileRoutes)
    pairing: StubbornPairing = field(default_factory=StubbornPairing)
    memory: ChatMemory | None = None
    grace_s: float = 2.0
    channel: RecordingChannel = field(init=False)
    _count: int = 0

    def __post_init__(self):
        self.open()

    def open(self):
        """Make the channel, as a new process would."""
        parts = ChannelParts(
            pairing=self.pairing,
            ledger=self.ledger,
            outbox=self.outbox,
            routes=self.routes,
            memory=self.memory,
            timers=self.timers,
            grace_s=self.grace_s,
        )
        self.channel = RecordingChannel(self.config, bridge=self.bridge, parts=parts)

    async def recover(self):
        """Go on where an earlier process stopped, as far as that gets."""
        await self.channel.recover()
        await settle()

    async def say(self, text, **facts):
        """Send a message and let it get as far as it can."""
        task = asyncio.create_task(self.channel.handle_inbound(self.message(text, **facts)))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        await settle()
        return task

    def message(self, text, **facts):
        self._count += 1
        return Envelope(
            **{
                "channel_name": self.config.name,
                "sender_id": "u1",
                "sender_name": "Ann",
                "chat_id": "c1",
                "text": text,
                "message_id": f"msg{self._count}",
            }
            | facts
        )

    async def later(self, duration_ms):
        self.timers.pass_ms(duration_ms)
        await settle()

    @property
    def log(self):
        return self.channel.log

    @property
    def texts(self):
        return [text for _, _, text in self.channel.sent]

    @property
    def types(self):
        return [event.type for event in self.channel.events]

    @property
    def prompted(self):
        return [prompt.text for prompt in self.bridge.prompts]


def scene(*, memory=None, pairing=None, **config):
    """A channel that everybody may use, unless told otherwise."""
    settings = {"name": "chat", "type": "test", "cwd": "/srv/work", "sender_policy": "open"} | config
    extra = {"pairing": pairing} if pairing is not None else {}
    return Scene(ChannelConfig(**settings), memory=memory, **extra)


async def settle():
    """Let everything happen that needs no time to pass."""
    for _ in range(ROUNDS):
        await asyncio.sleep(0)
