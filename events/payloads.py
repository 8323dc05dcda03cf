"""What events say: the shape of each kind's data.

Scripts write what is in a log, and the code of a stream what is about the stream; these models describe it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.json_schema import SkipJsonSchema

from core.acp import Scope
from core.ids import Kind
from events import kinds

_Absent = SkipJsonSchema[None]
_Count = Annotated[int, Field(ge=0)]


class Payload(BaseModel):
    """Base of what events say: camelCase names; a field that may be None is left out then."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")


class MemoryChanged(Payload):
    """A task really changed memory: told once for each.

    Attributes:
        source: ``workspace_memory_`` and the task's kind.
        revision: id of the commit.
    """

    scope: Literal["managed"]
    source: Annotated[str, Field(pattern="^workspace_memory_[a-z]+$")]
    task_id: str
    touched_scopes: list[Scope]
    revision: str | _Absent = None


class TaskChanged(Payload):
    """A task is somewhere else on its way; never its request, result or paths.

    Attributes:
        outcome: how it ended.
        code: why it failed.
        attempt: runs so far.
        position: place in the lane, 1 is next.
    """

    task_id: str
    kind: Kind
    status: Literal["queued", "running", "completed", "failed", "cancelled"]
    outcome: Literal["completed", "failed", "cancelled"] | _Absent = None
    code: str | _Absent = None
    attempt: _Count | _Absent = None
    position: _Count | _Absent = None


class TaskProgress(Payload):
    """How far a run is.

    Attributes:
        turn: model calls begun; 0 before the first.
        max_turns: how many there may be; 0 for work that calls no model.
        last_tool: the tool that ran last.
        files_touched: documents written so far, none of which counts before the task's end.
    """

    turn: _Count
    max_turns: _Count
    last_tool: str | _Absent = None
    files_touched: _Count


class TaskProgressed(Payload):
    """A running task says how far it is; in no log, and never replayed."""

    task_id: str
    kind: Kind
    status: Literal["running"]
    attempt: _Count
    progress: TaskProgress


class SessionClosed(Payload):
    """A session has ended, and its streams with it.

    Attributes:
        closed_by: the client that ended it.
    """

    session_id: str
    reason: str
    closed_by: str | _Absent = None


class ChannelIdentity(Payload):
    """Who the agent is in a channel."""

    id: str
    display_name: str
    description: str | _Absent = None


class ChannelMemoryScope(Payload):
    """What memory a channel is labelled with."""

    namespace: str
    mode: Literal["metadata-only"]


class ChannelTask(Payload):
    """Something happened to a turn of a chat channel; never what was said in it.

    Attributes:
        session_id: of the agent's chat session.
        message_id: the chat service's id of the message that is answered.
    """

    channel_name: str
    chat_id: str
    session_id: str
    message_id: str | _Absent = None
    identity: ChannelIdentity
    memory_scope: ChannelMemoryScope


class ChannelTaskStarted(ChannelTask):
    """A turn runs."""

    type: Literal["started"]


class ChannelTaskTextChunk(ChannelTask):
    """The agent began to write its answer: told once a turn."""

    type: Literal["text_chunk"]


class ChannelToolCall(Payload):
    """A tool call, its texts cut."""

    session_id: str
    tool_call_id: str
    kind: str
    title: str
    status: str


class ChannelTaskToolCall(ChannelTask):
    """The agent uses a tool, or tells more of a use."""

    type: Literal["tool_call"]
    tool_call: ChannelToolCall


class ChannelTaskCancelled(ChannelTask):
    """A turn was called off."""

    type: Literal["cancelled"]
    reason: Literal["cancel_command", "clear", "steer", "timeout", "dropped"]


class ChannelTaskCompleted(ChannelTask):
    """A turn's answer has been delivered."""

    type: Literal["completed"]


class ChannelTaskFailed(ChannelTask):
    """A turn has no answer, or it could not be delivered.

    Attributes:
        error: why, cut.
    """

    type: Literal["failed"]
    error: str
    phase: Literal["agent", "delivery"]


class ReplayComplete(Payload):
    """What was missed has been told; from here on the stream is live.

    Attributes:
        last_replayed_event_id: the last event of the replay.
        last_event_id: the newest event when the replay began.
    """

    last_replayed_event_id: _Count | _Absent = None
    last_event_id: _Count | _Absent = None
    replayed_count: _Count


class StateResyncRequired(Payload):
    """Events are missing between those before and those after: state has to be read anew.

    Attributes:
        last_delivered_id: the cursor that was asked for.
        earliest_available_id: the oldest event that the log has.
    """

    reason: Literal["ring_evicted", "epoch_reset"]
    detail: Literal["epoch_mismatch"] | _Absent = None
    last_delivered_id: int
    earliest_available_id: int


class SlowClientWarning(Payload):
    """The reader is far behind.

    Attributes:
        queue_size, queue_bytes: how far.
        max_queued, max_queued_bytes: where the stream ends.
    """

    queue_size: _Count
    queue_bytes: _Count
    max_queued: _Count
    max_queued_bytes: _Count


class ClientEvicted(Payload):
    """The reader was too slow: this is the end of its stream.

    Attributes:
        lag, lag_bytes: how far it was behind.
    """

    reason: Literal["queue_overflow"]
    lag: _Count
    lag_bytes: _Count


PAYLOADS: Mapping[str, type[Payload]] = MappingProxyType(
    {
        kinds.MEMORY_CHANGED: MemoryChanged,
        kinds.SESSION_CLOSED: SessionClosed,
        kinds.TASK_QUEUED: TaskChanged,
        kinds.TASK_RUNNING: TaskChanged,
        kinds.TASK_PROGRESS: TaskProgressed,
        kinds.TASK_COMPLETED: TaskChanged,
        kinds.TASK_FAILED: TaskChanged,
        kinds.TASK_CANCELLED: TaskChanged,
        kinds.CHANNEL_TASK_STARTED: ChannelTaskStarted,
        kinds.CHANNEL_TASK_TEXT_CHUNK: ChannelTaskTextChunk,
        kinds.CHANNEL_TASK_TOOL_CALL: ChannelTaskToolCall,
        kinds.CHANNEL_TASK_CANCELLED: ChannelTaskCancelled,
        kinds.CHANNEL_TASK_COMPLETED: ChannelTaskCompleted,
        kinds.CHANNEL_TASK_FAILED: ChannelTaskFailed,
        kinds.REPLAY_COMPLETE: ReplayComplete,
        kinds.STATE_RESYNC_REQUIRED: StateResyncRequired,
        kinds.SLOW_CLIENT_WARNING: SlowClientWarning,
        kinds.CLIENT_EVICTED: ClientEvicted,
    }
)

# events about the stream itself or beside the log: these have no id
WITHOUT_ID = frozenset(
    {
        kinds.TASK_PROGRESS,
        kinds.REPLAY_COMPLETE,
        kinds.STATE_RESYNC_REQUIRED,
        kinds.SLOW_CLIENT_WARNING,
        kinds.CLIENT_EVICTED,
    }
)
