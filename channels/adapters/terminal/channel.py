"""A chat with one person at a terminal: what they type goes in, what the agent says comes out."""

from collections.abc import Callable

from channels.base import ChannelBase
from channels.bridge import AgentBridge
from channels.config import ChannelConfig
from channels.envelope import Envelope
from channels.parts import ChannelParts
from core.ids import new_uuid

CHAT_ID = "terminal"


class TerminalChannel(ChannelBase):
    """Writes what is sent; lines are handed in one by one."""

    def __init__(
        self, config: ChannelConfig, *, bridge: AgentBridge, parts: ChannelParts, write: Callable[[str], None]
    ) -> None:
        super().__init__(config, bridge=bridge, parts=parts)
        self._write = write

    async def connect(self) -> None:
        """Nothing is to be connected."""

    async def disconnect(self) -> None:
        """Nothing is connected."""

    async def send_message(
        self, chat_id: str, text: str, *, thread_id: str | None = None, delivery_id: str | None = None
    ) -> str | None:
        """Write a message."""
        del chat_id, thread_id, delivery_id  # there is one place, and it forgets
        self._write(f"{text}\n")
        return None

    async def take_line(self, line: str, *, person: str) -> None:
        """Have a line handled; returns when its turn has ended.

        Raises:
            Exception: what its turn raised.
        """
        await self.handle_inbound(
            Envelope(
                channel_name=self.name,
                sender_id=person,
                sender_name=person,
                chat_id=CHAT_ID,
                text=line,
                message_id=new_uuid(),  # what is asked is known by it, in later chats too
            )
        )
