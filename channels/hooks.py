"""What an adapter may observe of turns: called by the engine, never able to stop it."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from channels.lifecycle import ChannelTaskLifecycleEvent, SeenToolCall
from channels.under_way import UnderWay
from core.logs import get_logger

Hooked = Awaitable[None] | None

_log = get_logger(__name__)


class Hooks(Protocol):
    """The hooks of an adapter; each may be sync or async."""

    def on_task_lifecycle(self, event: ChannelTaskLifecycleEvent) -> Hooked:
        """Something happened to a turn."""
        ...

    def on_prompt_start(self, chat_id: str, session_id: str, message_id: str | None) -> Hooked:
        """A turn began."""
        ...

    def on_response_chunk(self, chat_id: str, chunk: str, session_id: str) -> Hooked:
        """A piece of an answer came."""
        ...

    def on_tool_call(self, chat_id: str, call: SeenToolCall) -> Hooked:
        """The agent uses a tool."""
        ...

    def on_response_complete(self, chat_id: str, full_text: str, session_id: str) -> Hooked:
        """An answer is there and has to be delivered."""
        ...

    def on_prompt_end(self, chat_id: str, session_id: str, message_id: str | None) -> Hooked:
        """A turn is over."""
        ...


class SilentHooks:
    """Hooks that do nothing, for those that an adapter has no use for."""

    def on_task_lifecycle(self, event: ChannelTaskLifecycleEvent) -> Hooked:
        """Something happened to a turn."""

    def on_prompt_start(self, chat_id: str, session_id: str, message_id: str | None) -> Hooked:
        """A turn began: a place to show that somebody is writing."""

    def on_response_chunk(self, chat_id: str, chunk: str, session_id: str) -> Hooked:
        """A piece of an answer came."""

    def on_tool_call(self, chat_id: str, call: SeenToolCall) -> Hooked:
        """The agent uses a tool, maybe outside of a turn."""

    def on_prompt_end(self, chat_id: str, session_id: str, message_id: str | None) -> Hooked:
        """A turn is over, whatever became of it."""


class HookRunner:
    """Calls hooks without waiting for them; what they raise is logged."""

    def __init__(self) -> None:
        self._running = UnderWay()

    def fire(self, told: Callable[[str], str], hook: Callable[..., Hooked], *arguments: Any) -> None:
        """Call a hook.

        Args:
            told: makes the line of the log out of what was raised.
        """
        try:
            outcome = hook(*arguments)
        except Exception as error:  # noqa: BLE001 - an adapter's own code must not end a turn
            _log.error(told(str(error)))
            return
        if inspect.isawaitable(outcome):
            self._running.begin(_see_through(outcome, told))

    async def finish(self, *, limit_s: float) -> None:
        """Wait until all that were called have returned; what has not by then is cut off."""
        await self._running.wind_up(limit_s=limit_s)


async def _see_through(hooked: Awaitable[None], told: Callable[[str], str]) -> None:
    try:
        await hooked
    except Exception as error:  # noqa: BLE001 - an adapter's own code must not end a turn
        _log.error(told(str(error)))
