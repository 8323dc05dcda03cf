"""One connection of Socket Mode: https://docs.slack.dev/apis/events-api/using-socket-mode."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp

from channels.adapters.slack.refusals import SlackRefused
from core.logs import get_logger

_log = get_logger(__name__)


class SocketConnection:
    """Frames from Slack, and what is answered to them."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket

    async def greet(self) -> None:
        """Wait for Slack's hello, with which a connection begins.

        Raises:
            SlackRefused: something else came, or the connection ended.
        """
        async for frame in self.frames():
            if frame.get("type") == "hello":
                return
            raise SlackRefused(f"no hello but {frame.get('type')}, {frame.get('reason')}")
        raise SlackRefused("the connection ended")

    async def frames(self) -> AsyncIterator[Mapping[str, Any]]:
        """Give what comes until the connection ends; what is no JSON object is passed over."""
        async for message in self._messages():
            frame = _object(message.data) if message.type is aiohttp.WSMsgType.TEXT else None
            if frame is not None:
                yield frame
            elif message.type is not aiohttp.WSMsgType.ERROR:
                _log.warning("channel_frame_unreadable", kind=message.type.name)

    async def _messages(self) -> AsyncIterator[aiohttp.WSMessage]:
        try:
            async for message in self._socket:
                yield message
        except (aiohttp.ClientError, ConnectionError):
            _log.info("channel_ping_not_answered")  # what came before the end was given

    async def acknowledge(self, envelope_id: str) -> None:
        """Tell Slack that an event was taken; over a connection that has ended that is not said."""
        try:
            await self._socket.send_str(json.dumps({"envelope_id": envelope_id}))
        except (aiohttp.ClientError, ConnectionError):
            _log.info("channel_event_not_acknowledged")  # Slack sends it again, and it will be known


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
