"""Sends an answer in blocks while it is being written."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from channels.blocks import cut_at_paragraph, cut_when_full
from channels.config import BlockStreaming
from channels.timers import Timers


class BlockStreamer:
    """Collects what an agent writes and sends it block by block, one after the other."""

    def __init__(
        self, limits: BlockStreaming, *, send: Callable[[str], Awaitable[None]], timers: Timers
    ) -> None:
        self._limits = limits
        self._send = send
        self._timers = timers
        self._text = ""
        self._blocks: deque[str] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._error: BaseException | None = None
        self._disarm: Callable[[], None] | None = None
        self._stopped = False
        self.has_text = False

    def push(self, chunk: str) -> None:
        """Add a piece, and send what is complete by that."""
        if self._stopped:
            return
        self.has_text = self.has_text or not chunk.isspace()
        self._text += chunk
        self._arm()
        while len(self._text) >= self._limits.max_characters:
            self._emit(cut_when_full(self._text, self._limits.max_characters))
        if len(self._text) >= self._limits.min_characters:
            self._emit(cut_at_paragraph(self._text, self._limits.min_characters))

    async def remaining(self) -> Sequence[str]:
        """Send no more blocks, and give out those that are left, when the one that is being sent has been.

        Raises:
            Exception: what the first block that could not be sent raised; none after it was sent.
        """
        self._queue(len(self._text))
        left = tuple(self._blocks)
        self.stop()
        if self._sending is not None:
            await asyncio.wait({self._sending})
        if self._error is not None:
            raise self._error
        return left

    def stop(self) -> None:
        """Forget the rest; what is being sent is sent."""
        self._stopped = True
        self._text = ""
        self._call_off()
        self._blocks.clear()

    def _queue(self, end: int) -> None:
        block, self._text = self._text[:end].strip(), self._text[end:]
        if block:
            self._blocks.append(block)

    def _emit(self, end: int) -> None:
        self._queue(end)
        if self._blocks and (self._sending is None or self._sending.done()):
            self._sending = asyncio.create_task(self._send_all())

    async def _send_all(self) -> None:
        while self._error is None and self._blocks:
            try:
                await self._send(self._blocks.popleft())
            except Exception as error:  # noqa: BLE001 - raised by remaining, to whom the answer belongs
                self._error = error

    def _arm(self) -> None:
        self._call_off()
        if self._limits.idle_ms > 0:
            self._disarm = self._timers.call_later(self._limits.idle_ms, self._emit_idle)

    def _emit_idle(self) -> None:
        if len(self._text) >= self._limits.min_characters:
            self._emit(len(self._text))

    def _call_off(self) -> None:
        if self._disarm is not None:
            self._disarm()
            self._disarm = None
