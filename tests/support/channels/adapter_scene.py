"""A channel of some adapter against its fake chat service, with an agent and a clock that the test drives."""

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
from tests.support.channels.scene import HandTimers, StubbornPairing
from tests.support.channels.scripted_bridge import AgentFailure, ScriptedBridge


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
class AdapterScene:
    """What a test drives.

    Attributes:
        fake: the chat service.
        inbox: outlives the channel, as storage does.
    """

    facts: Facts
    fake: Any
    config: ChannelConfig
    folder: Path | None = None
    pairing: StubbornPairing = field(default_factory=StubbornPairing)
    bridge: Any = None

    def __post_init__(self):
        self.timers = WatchedTimers(self.facts)
        self.bridge = self.bridge or AwaitedBridge(self.facts)
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

    async def healthy(self, state):
        """Wait for a state of health."""
        return await self.facts.until(
            lambda: self.channel.health if self.channel.health.state == state else None
        )


def open_config(kind, own_token, *, extra, **config):
    """The configuration of a channel that everybody may use, unless told otherwise."""
    settings: dict[str, Any] = {
        "name": "team",
        "type": kind,
        "cwd": "/srv/work",
        "token": SecretStr(own_token),
        "sender_policy": "open",
        "group_policy": "open",
        "groups": {"*": GroupConfig()},
    }
    return ChannelConfig(**(settings | config), extra=extra)


@asynccontextmanager
async def adapter_scene(
    scene_of, fake_service, config_of, *, folder=None, connected=True, pairing=None, bridge=None, **config
):
    """A channel as ``config_of`` configures it; its agent is scripted, unless one is given.

    Args:
        scene_of: the ``AdapterScene`` of its type.
        config_of: gets the fake service's URL, and what the test wants otherwise.
    """
    facts = Facts()
    async with fake_service(facts) as fake:
        scene = scene_of(
            facts,
            fake,
            config_of(fake.url, **config),
            folder=folder,
            pairing=pairing or StubbornPairing(),
            bridge=bridge,
        )
        try:
            if connected:
                await scene.start()
            yield scene
        finally:
            await scene.stop()
