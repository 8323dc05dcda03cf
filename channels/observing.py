"""Tells an adapter and whoever else listens what happens to turns."""

from collections.abc import Callable
from functools import partial

from channels.hooks import Hooked, HookRunner, Hooks
from channels.identity import ChannelRuntimeIdentity, ChannelRuntimeMemoryScope
from channels.lifecycle import (
    MAX_KIND_CHARACTERS,
    MAX_STATUS_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    CancelReason,
    ChannelTaskLifecycleEvent,
    FailurePhase,
    SeenToolCall,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    TurnTextChunk,
    TurnToolCall,
)
from channels.sanitizing import error_text, log_text
from channels.turn import Turn
from core.chat import ToolCall


class Observer:
    """Makes the events of turns and gives them to the adapter's hooks.

    Attributes:
        listeners: who else is told of turns.
    """

    def __init__(
        self,
        hooks: Hooks,
        *,
        channel: str,
        identity: ChannelRuntimeIdentity,
        memory_scope: ChannelRuntimeMemoryScope,
    ) -> None:
        self._hooks = hooks
        self._channel = channel
        self._labels = {"identity": identity, "memory_scope": memory_scope}
        self._runner = HookRunner()
        self.listeners: list[Callable[[ChannelTaskLifecycleEvent], None]] = []

    def started(self, turn: Turn) -> None:
        """Tell that a turn runs."""
        self._tell(turn, TurnStarted(**self._common(turn)))
        self._fire("onPromptStart threw", self._hooks.on_prompt_start, turn)

    def take_chunk(self, turn: Turn, chunk: str) -> None:
        """Tell a piece of the answer; hold it while a cancellation is pending."""
        if turn.is_cancelled or turn.has_ended:
            return
        if turn.cancel_pending:
            turn.held.append(chunk)
            return
        self._tell(turn, TurnTextChunk(chunk=chunk, **self._common(turn)))
        self._runner.fire(
            partial(self._line, "onResponseChunk threw"),
            self._hooks.on_response_chunk,
            turn.envelope.chat_id,
            chunk,
            turn.session_id,
        )
        if turn.streamer is not None:
            turn.streamer.push(chunk)

    def release_held(self, turn: Turn) -> None:
        """Tell the pieces that were held."""
        held, turn.held = turn.held, []
        for chunk in held:
            self.take_chunk(turn, chunk)

    def tool_call(self, turn: Turn | None, call: ToolCall, *, session_id: str, chat_id: str) -> None:
        """Tell that the agent uses a tool; of a turn that is or may be cancelled only the adapter is told.

        Args:
            chat_id: where the session's first message came from, for a session without a turn.
        """
        seen = _seen(call, session_id)
        if turn is not None and turn.is_observed:
            self._tell(turn, TurnToolCall(tool_call=seen, **self._common(turn)))
        where = turn.envelope.chat_id if turn is not None else chat_id
        self._runner.fire(partial(self._line, "onToolCall threw"), self._hooks.on_tool_call, where, seen)

    def cancelled(self, turn: Turn, reason: CancelReason) -> None:
        """Tell that a turn was cancelled; after the first time nothing is told."""
        if turn.cancel_reason is None:
            turn.cancel_reason = reason
            self._tell(turn, TurnCancelled(reason=reason, **self._common(turn)))

    def completed(self, turn: Turn) -> None:
        """Tell that an answer has been delivered."""
        self._tell(turn, TurnCompleted(**self._common(turn)))

    def failed(self, turn: Turn, error: str, phase: FailurePhase) -> None:
        """Tell that there will be no answer."""
        self._tell(turn, TurnFailed(error=error_text(error), phase=phase, **self._common(turn)))

    def ended(self, turn: Turn) -> None:
        """Tell that a turn is over, whatever became of it."""
        self._fire("onPromptEnd threw in finally", self._hooks.on_prompt_end, turn)

    async def finish(self, *, limit_s: float) -> None:
        """Wait until all hooks have returned; what has not by then is cut off."""
        await self._runner.finish(limit_s=limit_s)

    def _common(self, turn: Turn) -> dict[str, object]:
        envelope = turn.envelope
        return {
            "channel_name": self._channel,
            "chat_id": envelope.chat_id,
            "session_id": turn.session_id,
            "message_id": envelope.message_id,
            **self._labels,
        }

    def _tell(self, turn: Turn, event: ChannelTaskLifecycleEvent) -> None:
        def told(error: str) -> str:
            return self._line(f"onTaskLifecycle threw for {event.type} session {turn.session_id}", error)

        for tell in (self._hooks.on_task_lifecycle, *self.listeners):
            self._runner.fire(told, tell, event)

    def _fire(self, what: str, hook: Callable[[str, str, str | None], Hooked], turn: Turn) -> None:
        envelope = turn.envelope
        self._runner.fire(
            partial(self._line, what),
            hook,
            envelope.chat_id,
            turn.session_id,
            envelope.message_id,
        )

    def _line(self, what: str, error: str) -> str:
        return f"[{self._channel}] {what}: {error_text(error)}"


def _seen(call: ToolCall, session_id: str) -> SeenToolCall:
    return SeenToolCall(
        session_id=session_id,
        tool_call_id=call.id,
        kind=log_text(call.kind, MAX_KIND_CHARACTERS),
        title=log_text(call.title, MAX_TITLE_CHARACTERS),
        status=log_text(call.status, MAX_STATUS_CHARACTERS),
    )
