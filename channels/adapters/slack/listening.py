"""Listens to Slack over Socket Mode, one connection after the other, whatever happens to any of them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from channels.adapters.slack.api import SlackApi
from channels.adapters.slack.backlog import Backlog, Received, Take
from channels.adapters.slack.connection import SocketConnection
from channels.adapters.slack.refusals import SlackRefused
from channels.errors import ChannelCredentialsRefused
from channels.health import Hearing
from channels.timers import Timers, backoff_ms, jitter, pause

STEADY_MS = 30_000
LONGEST_WAIT_MS = 300_000

_RENEWALS = frozenset({"warning", "refresh_requested"})


class Listener:
    """Receives the events of one app, in their order.

    Attributes:
        hearing: connected only while there is a connection that said hello, and what it brings is stored.
    """

    def __init__(self, api: SlackApi, take: Take, *, app_token: str, channel: str, timers: Timers) -> None:
        self._api = api
        self._backlog = Backlog(take, when_changed=self._tell, timers=timers)
        self._app_token = app_token
        self._channel = channel
        self._timers = timers
        self._short_lived = 0
        self._trouble: str | None = None
        self.hearing = Hearing(channel)

    async def run(self) -> None:
        """Receive until this is cancelled.

        Raises:
            ChannelCredentialsRefused: Slack does not accept the app's token, or not any more.
        """
        tasks = [asyncio.create_task(work) for work in (self._receive_all(), self._backlog.run())]
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _receive_all(self) -> None:
        while True:
            try:
                await self._listen()
            except SlackRefused as refused:
                await self._back_off(refused)
            else:
                await self._renew()

    async def _listen(self) -> None:
        """Receive over one connection, until Slack asks for another one.

        Raises:
            SlackRefused: it can't be opened, or ended by itself.
        """
        async with self._connected() as connection:
            async for frame in connection.frames():
                if frame.get("type") != "disconnect":
                    await self._receive(frame, connection)
                elif frame.get("reason") in _RENEWALS:
                    return
                else:
                    raise SlackRefused(f"disconnected, {frame.get('reason')}")
        raise SlackRefused("the connection ended")

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[SocketConnection]:
        async with self._api.socket(self._app_token) as connection:
            self._found(None)
            call_off = self._timers.call_later(STEADY_MS, self._be_steady)
            try:
                yield connection
            finally:
                call_off()

    def _be_steady(self) -> None:
        self._short_lived = 0

    async def _receive(self, frame: Mapping[str, Any], connection: SocketConnection) -> None:
        payload, envelope_id = frame.get("payload"), frame.get("envelope_id")
        if not isinstance(envelope_id, str):
            return
        acknowledge = partial(connection.acknowledge, envelope_id)
        if frame.get("type") == "events_api" and isinstance(payload, Mapping):
            await self._backlog.add(Received(payload, acknowledge))
        else:
            await acknowledge()

    async def _renew(self) -> None:
        """Wait before the next connection only if this was not the first in a row that Slack took back."""
        self._short_lived += 1
        if self._short_lived > 1:
            await self._pause(backoff_ms(self._short_lived - 1, jitter=jitter()))

    async def _back_off(self, refused: SlackRefused) -> None:
        if refused.is_about_credentials:
            self.hearing.become("stopped", refused.reason)
            raise ChannelCredentialsRefused(f"channels.{self._channel}.appToken: {refused}")
        self._found(refused.reason)
        self._short_lived += 1
        asked_ms = min((refused.retry_after_s or 0) * 1000, LONGEST_WAIT_MS)
        await self._pause(asked_ms or backoff_ms(self._short_lived, jitter=jitter()))

    async def _pause(self, duration_ms: int) -> None:
        await pause(duration_ms, self._timers)

    def _found(self, trouble: str | None) -> None:
        self._trouble = trouble
        self._tell()

    def _tell(self) -> None:
        trouble = self._trouble or self._backlog.trouble
        self.hearing.become("unhealthy" if trouble else "connected", trouble)
