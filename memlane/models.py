"""What the service answers, typed."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

from core.acp import ContextMode, Scope
from core.clock import rfc3339

Status = Literal["queued", "running", "completed", "failed"]
Outcome = Literal["completed", "failed", "cancelled"]
Moment = Annotated[
    datetime, PlainSerializer(lambda moment: rfc3339(round(moment.timestamp() * 1000)), when_used="json")
]


class Answer(BaseModel):
    """Base of every answer: camelCase on the wire; what a newer service says beyond it is kept as it came."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="allow")

    def to_json(self) -> str:
        """Render on one line what the service said, and no more than that."""
        return self.model_dump_json(by_alias=True, exclude_unset=True)


class RememberResult(Answer):
    """What a completed remember task did.

    Attributes:
        files_touched: paths on the service's machine, its home folder shown as ``~``.
    """

    summary: str
    files_touched: tuple[str, ...] = ()
    touched_scopes: tuple[Scope, ...] = ()


class TaskError(Answer):
    """Why a task failed; the text is fixed for each code."""

    code: str
    message: str


class Usage(Answer):
    """What a task cost so far."""

    input_tokens: int = 0
    output_tokens: int = 0
    model_calls: int = 0


class Task(Answer):
    """A task as the service shows it.

    Attributes:
        status: a cancelled task shows as ``failed``, with outcome ``cancelled``.
        outcome: how it ended; None before.
        result: once completed.
        error: once failed.
        attempt: runs so far.
        position: place in the lane while queued, 1 is next.
        revision: id of the commit, when something changed.
    """

    task_id: str
    status: Status
    created_at: Moment
    updated_at: Moment
    context_mode: ContextMode | None = None
    scope: Scope | None = None
    result: RememberResult | None = None
    error: TaskError | None = None
    workspace_id: str | None = None
    attempt: int = 0
    position: int | None = None
    started_at: Moment | None = None
    finished_at: Moment | None = None
    outcome: Outcome | None = None
    revision: str | None = None
    usage: Usage | None = None

    @property
    def finished(self) -> bool:
        """Whether the task has ended."""
        return self.status in {"completed", "failed"}


class ServedWorkspace(Answer):
    """A folder that the service serves.

    Attributes:
        cwd: its canonical path on the service's machine.
    """

    id: str
    cwd: str
    primary: bool = False


class Capabilities(Answer):
    """What the service can do, as far as the SDK looks."""

    features: tuple[str, ...] = ()
    workspaces: tuple[ServedWorkspace, ...] = ()


class EventMeta(Answer):
    """What a service says about an event rather than in it.

    Attributes:
        server_timestamp: epoch milliseconds of the server that wrote it.
    """

    server_timestamp: int | None = None


class Event(Answer):
    """Something that happened in a workspace.

    Attributes:
        id: place in the workspace's log, from 1; None for notes about the stream itself.
        v: version of this shape.
        originator_client_id: who asked for what happened, if they said.
    """

    id: int | None = None
    v: int = 1
    type: str
    data: dict[str, Any] = Field(default_factory=dict)
    originator_client_id: str | None = None
    meta: Annotated[EventMeta, Field(alias="_meta")] = EventMeta()

    @property
    def at(self) -> datetime | None:
        """When it happened, in UTC; None if the service did not say."""
        at_ms = self.meta.server_timestamp
        return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC)
