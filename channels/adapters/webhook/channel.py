"""A channel that talks to any service by signed requests."""

import json

import httpx2

from channels.adapters.webhook.options import read_options
from channels.adapters.webhook.signature import DELIVERY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER, sign
from channels.base import ChannelBase
from channels.bridge import AgentBridge
from channels.config import ChannelConfig
from channels.errors import DeliveryFailed
from channels.inbox import Inbox
from channels.parts import ChannelParts
from channels.timers import pause
from core import clock
from core.ids import new_uuid

TRIES = 4
LIMIT_S = 10.0
FIRST_PAUSE_MS = 500


class WebhookChannel(ChannelBase):
    """Messages come in by the service's web, see ``WebhookDoor``; answers are posted to the callback."""

    def __init__(self, config: ChannelConfig, *, bridge: AgentBridge, parts: ChannelParts) -> None:
        """Make the channel.

        Raises:
            ChannelConfigInvalid: the callback is no address of HTTP.
        """
        super().__init__(config, bridge=bridge, parts=parts)
        self._timers = parts.timers
        self._callback = read_options(config).callback_url
        self._client = httpx2.AsyncClient(timeout=LIMIT_S, follow_redirects=False)

    async def connect(self) -> None:
        """Nothing is to be connected: the web takes in what is posted."""

    async def disconnect(self) -> None:
        """See ``ChannelBase``; answers can be sent until the channel is closed."""

    async def close(self) -> None:
        """See ``ChannelBase``; the connections are let go."""
        await super().close()
        await self._client.aclose()

    async def send_message(
        self, chat_id: str, text: str, *, thread_id: str | None = None, delivery_id: str | None = None
    ) -> str | None:
        """Post a message to the callback; it has arrived once that answers with 2xx.

        Args:
            delivery_id: the same for each try, so that the receiver takes it once.
        """
        delivery = delivery_id or new_uuid()
        message = {"channel": self.name, "chatId": chat_id, "threadId": thread_id, "text": text}
        body = json.dumps(message | {"deliveryId": delivery}, separators=(",", ":")).encode()
        reason = "it was not tried"
        for attempt in range(TRIES):
            if attempt:
                await pause(FIRST_PAUSE_MS << (attempt - 1), self._timers)
            status = await self._post(delivery, body)
            if isinstance(status, int) and 200 <= status < 300:
                return delivery
            reason = f"the callback answered with {status}" if isinstance(status, int) else status
            if isinstance(status, int) and status < 500 and status not in (408, 429):
                break
        raise DeliveryFailed(reason)

    async def _post(self, delivery: str, body: bytes) -> int | str:
        """The answer's status, or why there is none."""
        timestamp = str(clock.wall_ms() // 1000)
        headers = {
            "Content-Type": "application/json",
            TIMESTAMP_HEADER: timestamp,
            DELIVERY_HEADER: delivery,
            SIGNATURE_HEADER: sign(self.config.token.get_secret_value(), timestamp, body),
        }
        try:
            answer = await self._client.post(self._callback, content=body, headers=headers)
        except httpx2.HTTPError as error:
            return f"the callback gave no answer ({type(error).__name__})"
        return answer.status_code


def open_channel(
    config: ChannelConfig, *, bridge: AgentBridge, parts: ChannelParts, inbox: Inbox
) -> WebhookChannel:
    """Make the channel; see ``OpenAdapter``."""
    del inbox  # the web stores what comes
    return WebhookChannel(config, bridge=bridge, parts=parts)
