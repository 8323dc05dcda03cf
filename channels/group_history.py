"""What was said in a group since the agent was last spoken to."""

from collections import deque

from channels.envelope import Envelope
from channels.turn_text import said_by

MAX_MESSAGE_CHARACTERS = 1000
MAX_MESSAGES = 200
MAX_CHATS = 1000

_Chat = tuple[str, str | None]


class GroupHistory:
    """The last messages of each group that were not for the agent; in memory only."""

    def __init__(self) -> None:
        self._by_chat: dict[_Chat, deque[str]] = {}

    def remember(self, envelope: Envelope, *, limit: int) -> None:
        """Keep a message that says something.

        Args:
            limit: how many its chat keeps, >= 1; the oldest one goes, also when there are ``MAX_MESSAGES``.
        """
        if not envelope.text.strip():
            return
        chat = (envelope.chat_id, envelope.thread_id)
        kept = self._by_chat.pop(chat, deque())
        kept.append(_shortened(said_by(envelope)))
        while len(kept) > min(limit, MAX_MESSAGES):
            kept.popleft()
        self._by_chat[chat] = kept
        while len(self._by_chat) > MAX_CHATS:
            del self._by_chat[next(iter(self._by_chat))]

    def take(self, envelope: Envelope) -> str:
        """What was said in the message's chat, which is forgotten here; empty for nothing."""
        kept = self._by_chat.pop((envelope.chat_id, envelope.thread_id), None)
        return "Messages in this chat since the last turn:\n" + "\n".join(kept) if kept else ""

    def clear(self, chat_id: str | None = None) -> None:
        """Forget a chat, or all of them."""
        for chat in [one for one in self._by_chat if chat_id in (None, one[0])]:
            del self._by_chat[chat]


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE_CHARACTERS else f"{text[: MAX_MESSAGE_CHARACTERS - 1]}…"
