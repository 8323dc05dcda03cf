"""Listens to Slack over Socket Mode, one connection after the other, whatever happens to any of them."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from channels.adapters.slack.api import SlackApi
from channels.adapters.slack.connection import SocketConnection
from channels.adapters.slack.refusals import SlackRefused
from channels.errors import ChannelCredentialsRefused
from channels.health import Hearing
from channels.timers import Timers, backoff_ms, pause
from core.errors import MemlaneError
from core.logs import get_logger

Take = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Stores the event of a payload; raises MemlaneError when that failed."""

_RENEWALS = frozenset({"warning", "refresh_requested"})

_log = get_logger(__name__)


class Listener:
    """Receives the events of one app, in their order.

    Attributes:
        hearing: connected only while there is a connection that said hello, and what it brings is stored.
    """

    def __init__(self, api: SlackApi, take: Take, *, app_token: str, channel: str, timers: Timers) -> None:
        self._api = api
        self._take = take
        self._app_token = app_token
        self._channel = channel
        self._timers = timers
        self._failures = 0
        self.hearing = Hearing(channel)

    async def run(self) -> None:
        """Receive until this is cancelled.

        Raises:
            ChannelCredentialsRefused: Slack does not accept the app's token, or not any more.
        """
        while True:
            try:
                await self._listen()
            except SlackRefused as refused:
                await self._back_off(refused)

    async def _listen(self) -> None:
        """Receive over one connection, until Slack asks for another one.

        Raises:
            SlackRefused: it can't be opened, or ended by itself.
        """
        async with self._connected() as connection:
            self._failures = 0
            self.hearing.become("connected")
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
        connection = await self._api.open_socket(self._app_token)
        try:
            yield connection
        finally:
            await connection.close()

    async def _receive(self, frame: Mapping[str, Any], connection: SocketConnection) -> None:
        payload, envelope_id = frame.get("payload"), frame.get("envelope_id")
        if frame.get("type") == "events_api" and isinstance(payload, Mapping):
            await self._store(payload)
        if isinstance(envelope_id, str):
            await connection.acknowledge(envelope_id)

    async def _store(self, payload: Mapping[str, Any]) -> None:
        """Have an event stored however long that takes: Slack repeats it for some minutes only."""
        failures = 0
        while True:
            try:
                await self._take(payload)
            except MemlaneError as error:
                failures += 1
                self.hearing.become("unhealthy", f"messages can't be stored: {error.code}")
                await pause(backoff_ms(failures, jitter=_jitter()), self._timers)
            else:
                self.hearing.become("connected")
                return

    async def _back_off(self, refused: SlackRefused) -> None:
        if refused.is_about_credentials:
            self.hearing.become("stopped", refused.reason)
            raise ChannelCredentialsRefused(f"channels.{self._channel}.appToken: {refused}")
        self.hearing.become("unhealthy", refused.reason)
        self._failures += 1
        asked_ms = (refused.retry_after_s or 0) * 1000
        await pause(asked_ms or backoff_ms(self._failures, jitter=_jitter()), self._timers)


def _jitter() -> float:
    return random.random()  # noqa: S311 - no secret depends on it
