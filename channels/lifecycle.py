"""What happens to a turn, as adapters and dashboards are told of it."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from channels.identity import ChannelRuntimeIdentity, ChannelRuntimeMemoryScope
from channels.shape import Shape

CancelReason = Literal["cancel_command", "clear", "steer", "timeout", "dropped"]
FailurePhase = Literal["agent", "delivery"]
TerminalType = Literal["completed", "cancelled", "failed"]

MAX_KIND_CHARACTERS = 20
MAX_TITLE_CHARACTERS = 80
MAX_STATUS_CHARACTERS = 20


class _TurnEvent(Shape):
    channel_name: str
    chat_id: str
    session_id: str
    message_id: str | None = None
    identity: ChannelRuntimeIdentity
    memory_scope: ChannelRuntimeMemoryScope


class TurnStarted(_TurnEvent):
    """The turn runs from now on."""

    type: Literal["started"] = "started"


class TurnTextChunk(_TurnEvent):
    """A piece of the answer came.

    Attributes:
        chunk: as the model wrote it, unsanitized.
    """

    type: Literal["text_chunk"] = "text_chunk"
    chunk: str


class SeenToolCall(Shape):
    """A tool call, cut and sanitized; what the agent left out is an empty text."""

    session_id: str
    tool_call_id: str
    kind: str
    title: str
    status: str


class TurnToolCall(_TurnEvent):
    """The agent uses a tool."""

    type: Literal["tool_call"] = "tool_call"
    tool_call: SeenToolCall


class TurnCancelled(_TurnEvent):
    """The turn was called off; nothing of it follows but the end hook."""

    type: Literal["cancelled"] = "cancelled"
    reason: CancelReason


class TurnCompleted(_TurnEvent):
    """The answer has been delivered, or was empty."""

    type: Literal["completed"] = "completed"


class TurnFailed(_TurnEvent):
    """There is no answer, or it could not be delivered.

    Attributes:
        error: sanitized, at most 200 characters before newlines are made visible.
        phase: where it failed.
    """

    type: Literal["failed"] = "failed"
    error: str
    phase: FailurePhase


ChannelTaskLifecycleEvent = Annotated[
    TurnStarted | TurnTextChunk | TurnToolCall | TurnCancelled | TurnCompleted | TurnFailed,
    Field(discriminator="type"),
]

TERMINAL_TYPES: frozenset[str] = frozenset(get_args(TerminalType))
