"""A Telegram channel against the fake Bot API, with an agent and a clock that the test drives."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from channels.adapters.registry import open_channel
from channels.config import ChannelConfig, GroupConfig
from channels.inflow import Inflow
from channels.parts import ChannelParts
from channels.volatile import VolatileInbox, VolatileLedger, VolatileOutbox
from tests.support.channels.facts import Facts
from tests.support.channels.fake_telegram import TOKEN, FakeTelegram, fake_telegram
from tests.support.channels.scene import HandTimers, StubbornPairing
from tests.support.channels.scripted_bridge import AgentFailure, ScriptedBridge

GROUP = {"id": -100500, "type": "supergroup", "title": "Team", "is_forum": True}


class WatchedTimers(HandTimers):
    """Time that a test moves once somebody waits for it."""

    def __init__(self, facts):
        super().__init__()
        self._facts = facts

    def call_later(self, delay_ms, callback):
        forget = super().call_later(delay_ms, callback)
        self._facts.changed()

        def call_off():
            forget()
            self._facts.changed()

        return call_off

    @property
    def delays_ms(self):
        return [due - self.now_ms for due, _ in self._waiting]

    async def until_paused(self, at_least_ms=1, at_most_ms=29_000):
        """Wait until somebody waits for so long, and return for how long exactly.

        No call is given up within 29 seconds.
        """

        def found():
            return [delay for delay in self.delays_ms if at_least_ms <= delay <= at_most_ms]

        return min(await self._facts.until(found))


class AwaitedBridge(ScriptedBridge):
    """An agent whose prompts a test can wait for."""

    def __init__(self, facts):
        super().__init__()
        self._facts = facts

    async def prompt(self, session_id, text, *, images=()):
        prompting = asyncio.ensure_future(super().prompt(session_id, text, images=images))
        await asyncio.sleep(0)
        self._facts.changed()
        return await prompting

    async def prompted(self, number=1):
        """Wait for so many prompts, and return the last."""
        await self._facts.until(lambda: len(self.prompts) >= number)
        return self.prompts[number - 1]


class FlakyInbox(VolatileInbox):
    """Fails to store as often as it is told, before or after it did."""

    def __init__(self, facts):
        super().__init__()
        self.stored = []
        self.failures = 0
        self.fails_after_storing = False
        self._facts = facts

    async def put(self, envelope, *, keys):
        if self.failures and not self.fails_after_storing:
            self.failures -= 1
            raise AgentFailure("no storage")
        is_new = await super().put(envelope, keys=keys)
        if is_new:
            self.stored.append(envelope)
        self._facts.changed()
        if self.failures:
            self.failures -= 1
            raise AgentFailure("no answer of the storage")
        return is_new


@dataclass
class TelegramScene:
    """What a test drives.

    Attributes:
        fake: the Bot API.
        inbox: outlives the channel, as storage does.
    """

    facts: Facts
    fake: FakeTelegram
    config: ChannelConfig
    folder: Path | None = None
    pairing: StubbornPairing = field(default_factory=StubbornPairing)

    def __post_init__(self):
        self.timers = WatchedTimers(self.facts)
        self.bridge = AwaitedBridge(self.facts)
        self.inbox = FlakyInbox(self.facts)
        self.ledger, self.outbox = VolatileLedger(), VolatileOutbox()
        self.channel = self.open()
        self._feeding = None

    def open(self):
        """Make the channel, as a new process would."""
        parts = ChannelParts(
            pairing=self.pairing,
            ledger=self.ledger,
            outbox=self.outbox,
            timers=self.timers,
            files=self.folder,
        )
        return open_channel(self.config, bridge=self.bridge, parts=parts, inbox=self.inbox)

    async def start(self):
        await self.channel.connect()
        self._flow = Inflow(self.channel, self.inbox)
        self._feeding = asyncio.create_task(self._flow.run())

    async def stop(self):
        if self._feeding is not None:
            self._feeding.cancel()
            await self.channel.disconnect()
            await self._flow.drain(limit_s=0)
        await self.channel.close()

    async def restart(self):
        """Go on as a new process."""
        await self.stop()
        self.channel = self.open()
        await self.start()

    async def stored(self, number=1):
        """Wait for so many messages, and return the last."""
        await self.facts.until(lambda: len(self.inbox.stored) >= number)
        return self.inbox.stored[number - 1]

    async def sent(self, number=1):
        """Wait until so many messages were sent, and return the last."""
        await self.facts.until(lambda: len(self.fake.sent) >= number)
        return self.fake.sent[number - 1]

    async def polls(self, number):
        """Wait until Telegram was asked for updates so often, and the last one is open or answered."""
        await self.facts.until(lambda: len(self.fake.called("getUpdates")) >= number)

    async def healthy(self, state):
        """Wait for a state of health."""
        return await self.facts.until(
            lambda: self.channel.health if self.channel.health.state == state else None
        )


def telegram_config(url, **config):
    extra = {"apiUrl": url, "pollTimeout": 20} | config.pop("extra", {})
    settings: dict[str, Any] = {
        "name": "team",
        "type": "telegram",
        "cwd": "/srv/work",
        "token": SecretStr(TOKEN),
        "sender_policy": "open",
        "group_policy": "open",
        "groups": {"*": GroupConfig()},
    }
    return ChannelConfig(**(settings | config), extra=extra)


@asynccontextmanager
async def telegram_scene(*, folder=None, connected=True, pairing=None, **config):
    """A channel that everybody may use, unless told otherwise."""
    facts = Facts()
    async with fake_telegram(facts) as fake:
        scene = TelegramScene(
            facts,
            fake,
            telegram_config(fake.url, **config),
            folder=folder,
            pairing=pairing or StubbornPairing(),
        )
        try:
            if connected:
                await scene.start()
            yield scene
        finally:
            await scene.stop()


def mention(text, name="@LaneBot"):
    """A message's text with the entity that names somebody in it."""
    before = text.partition(name)[0]
    offset = len(before.encode("utf-16-le")) // 2
    return {"text": text, "entities": [{"type": "mention", "offset": offset, "length": len(name)}]}
