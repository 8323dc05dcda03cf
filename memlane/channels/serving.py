"""Serves one channel for as long as it is this process's to serve."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from channels.base import ChannelBase
from channels.health import ChannelHealth
from channels.inbox import Inbox
from channels.inflow import Inflow
from core.clock import wall_ms
from core.errors import MemlaneError
from core.ids import new_uuid
from core.logs import get_logger
from events.chat.store import ChannelStore, Lease, Taken
from events.errors import StorageUnavailable
from memlane.channels.events import TurnEvents
from memlane.channels.threads import beside

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a channel changes hands, and what turns are given then.

    Attributes:
        lease_ms: how long a process that vanished keeps it, milliseconds.
        renew_s: how often who has it says so, and others ask, seconds; well below ``lease_ms``.
        drain_s: how long turns may go on when the process is told to stop, seconds.
        first_pause_s, longest_pause_s: before it is tried again after something went wrong, seconds.
    """

    lease_ms: int = 15_000
    renew_s: float = 5.0
    first_pause_s: float = 1.0
    longest_pause_s: float = 60.0
    drain_s: float = 5.0

    def pause_s(self, *, before_s: float) -> float:
        """How long to wait before the next try, seconds.

        Args:
            before_s: how long was waited before the one that failed; 0 for one that was served meanwhile.
        """
        return min(max(self.first_pause_s, 2 * before_s), self.longest_pause_s)


USUAL = Pace()


@dataclass(frozen=True, slots=True)
class Opened:
    """A channel with what feeds it and tells of it."""

    channel: ChannelBase
    inbox: Inbox
    events: TurnEvents


class ServedChannel:
    """Claims a channel, serves it, and begins anew after what goes wrong."""

    def __init__(
        self, name: str, store: ChannelStore, open_anew: Callable[[], Opened], *, pace: Pace = USUAL
    ) -> None:
        """Bind the parts.

        Args:
            open_anew: makes the channel, each time that it is claimed.
        """
        self._pace = pace
        self._name = name
        self._store = store
        self._open = open_anew
        self._owner = new_uuid()
        self._process = f"{socket.gethostname()}:{os.getpid()}"
        self._has_served = False
        self._otherwise = ChannelHealth("starting", wall_ms())
        self.current: ChannelBase | None = None

    async def run(self) -> None:
        """Serve the channel until this is cancelled; then what runs is given a few seconds."""
        pause_s = 0.0
        while True:
            self._has_served = False
            try:
                await self._claim()
                await self._serve()
            except MemlaneError as error:
                self._stopped(str(error))
                _log.error("channel_stopped", channel=self._name, reason=str(error), code=error.code)
            except Exception:  # noqa: BLE001 - the outermost frame of a channel, which must not stay deaf
                self._stopped("the adapter has a fault, see the log")
                _log.exception("channel_stopped", channel=self._name)
            finally:
                await self._release()
            pause_s = self._pace.pause_s(before_s=0.0 if self._has_served else pause_s)
            await asyncio.sleep(pause_s)

    async def _claim(self) -> None:
        while True:
            try:
                answer = await beside(self._claim_once)
            except StorageUnavailable:
                answer = Taken(int(self._pace.renew_s * 1000))
            if not isinstance(answer, Taken):
                return
            await asyncio.sleep(min(answer.free_in_ms / 1000, self._pace.renew_s))

    def _claim_once(self) -> Lease | Taken:
        return self._store.claim(self._owner, life_ms=self._pace.lease_ms, told=self._told())

    async def _serve(self) -> None:
        opened = self._open()
        channel = opened.channel
        channel.observe(opened.events.take)
        renewing = asyncio.create_task(self._renew())
        telling = asyncio.create_task(opened.events.run())
        try:
            with self._known(channel):
                await self._feed(opened, renewing)
        finally:
            await _ended(telling, renewing)
            await self._take_leave(channel.close)
            await opened.events.flush()

    async def _feed(self, opened: Opened, renewing: "asyncio.Task[None]") -> None:
        """Have messages handled until the lease is lost; what is under way has ended when this returns."""
        channel, flow = opened.channel, Inflow(opened.channel, opened.inbox)
        try:
            await channel.connect()
            feeding = asyncio.create_task(self._go_on(channel, flow))
            watching = asyncio.create_task(channel.watch())
            try:
                await asyncio.wait({renewing, feeding, watching}, return_when=asyncio.FIRST_COMPLETED)
                _raise_from(renewing, feeding, watching)
            finally:
                await _ended(feeding, watching)
        finally:
            await self._take_leave(channel.disconnect)
            await flow.drain(limit_s=0 if renewing.done() else self._pace.drain_s)

    async def _go_on(self, channel: ChannelBase, flow: Inflow) -> None:
        """Finish what an earlier process began, now that it can be told, then have messages handled."""
        await channel.recover()
        self._has_served = True
        _log.info("channel_serving", channel=self._name, type=channel.config.type)
        await flow.run()

    def _stopped(self, reason: str | None = None) -> None:
        self._otherwise = ChannelHealth("stopped", wall_ms(), reason)

    def _told(self) -> Mapping[str, str]:
        """How it is with the channel, for who looks on."""
        health = self.current.health if self.current is not None else self._otherwise
        return {
            "state": health.state,
            "since": str(health.since_ms),
            "reason": health.reason or "",
            "process": self._process,
        }

    async def _take_leave(self, step: Callable[[], Awaitable[None]]) -> None:
        try:
            await step()
        except Exception:  # noqa: BLE001 - an adapter's fault must not keep the others from ending
            _log.exception("channel_not_left", channel=self._name)

    @contextmanager
    def _known(self, channel: ChannelBase) -> Iterator[None]:
        self.current = channel
        try:
            yield
        finally:
            self.current = None
            self._stopped()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._pace.renew_s)
            try:
                await beside(self._renew_once)
            except StorageUnavailable:
                continue  # nobody else can claim it either

    def _renew_once(self) -> None:
        self._store.renew(life_ms=self._pace.lease_ms, told=self._told())

    async def _release(self) -> None:
        try:
            await beside(lambda: self._store.release(told=self._told()))
        except MemlaneError as error:
            _log.warning("channel_not_released", channel=self._name, reason=error.code)


async def _ended(*tasks: "asyncio.Task[None]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(set(tasks))


def _raise_from(*tasks: "asyncio.Task[None]") -> None:
    """Raise what ended one of them, if anything did."""
    for task in tasks:
        if task.done() and not task.cancelled() and task.exception() is not None:
            task.result()
