"""Publishes what happens to turns in the event log of the channel's workspace."""

import asyncio

from channels.lifecycle import TERMINAL_TYPES, ChannelTaskLifecycleEvent
from core.errors import MemlaneError
from core.ids import WorkspaceId
from core.logs import get_logger
from events.chat.announcing import Announcer
from memlane.channels.threads import beside

MAX_WAITING = 1_000

_log = get_logger(__name__)


class TurnEvents:
    """Announces events in their order, beside the turns; what was said is left out.

    Of the pieces of an answer the first is announced. When the log is away for long the oldest are dropped.
    """

    def __init__(self, announcer: Announcer, workspace: WorkspaceId) -> None:
        self._announcer = announcer
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
        """Announce until this is cancelled."""
        while True:
            await self._announce(await self._waiting.get())

    async def flush(self) -> None:
        """Announce what waits."""
        while not self._waiting.empty():
            await self._announce(self._waiting.get_nowait())

    async def _announce(self, event: ChannelTaskLifecycleEvent) -> None:
        data = event.to_wire()
        data.pop("chunk", None)
        kind = f"channel_task_{event.type}"
        try:
            await beside(lambda: self._announcer.announce(self._workspace, kind, data))
        except MemlaneError as error:
            _log.warning("channel_event_not_told", kind=kind, reason=error.code)
