"""Publishes what happens to turns in the event log of the channel's workspace."""

import asyncio
from functools import partial

from channels.lifecycle import TERMINAL_TYPES, ChannelTaskLifecycleEvent
from core.errors import MemlaneError
from core.ids import WorkspaceId
from core.logs import get_logger
from events.chat.announcing import Announcer
from memlane.channels.stores import Patience
from memlane.channels.threads import beside

MAX_WAITING = 1_000

_log = get_logger(__name__)


class TurnEvents:
    """Announces events in their order, beside the turns; what was said is left out.

    Of the pieces of an answer the first is announced. When the log is away for long the oldest are dropped.
    """

    def __init__(
        self, announcer: Announcer, workspace: WorkspaceId, *, patience: Patience | None = None
    ) -> None:
        self._announcer = announcer
        self._patience = patience or Patience()
        self._workspace = workspace
        self._waiting: asyncio.Queue[ChannelTaskLifecycleEvent] = asyncio.Queue()
        self._writing: set[str] = set()

    def take(self, event: ChannelTaskLifecycleEvent) -> None:
        """Have an event announced soon."""
        if event.type == "text_chunk":
            if event.session_id in self._writing:
                return
            self._writing.add(event.session_id)
        elif event.type in TERMINAL_TYPES:
            self._writing.discard(event.session_id)
        if self._waiting.qsize() >= MAX_WAITING:
            self._waiting.get_nowait()
        self._waiting.put_nowait(event)

    async def run(self) -> None:
        """Announce until this is cancelled; waits for a log that is away."""
        while True:
            event = await self._waiting.get()
            await self._patience.ask(partial(self._announce, event))

    async def flush(self) -> None:
        """Announce what waits, unless the log is away."""
        try:
            while not self._waiting.empty():
                await beside(partial(self._announce, self._waiting.get_nowait()))
        except MemlaneError as error:
            _log.warning("channel_events_not_told", reason=error.code, more=self._waiting.qsize())

    def _announce(self, event: ChannelTaskLifecycleEvent) -> None:
        data = event.to_wire()
        data.pop("chunk", None)
        data.get("toolCall", {}).pop("title", None)  # an agent's may repeat what was asked
        self._announcer.announce(self._workspace, f"channel_task_{event.type}", data)
