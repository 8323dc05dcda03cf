"""What the service answers, typed."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from core.acp import ContextMode, Scope

Status = Literal["queued", "running", "completed", "failed"]
Outcome = Literal["completed", "failed", "cancelled"]


class Answer(BaseModel):
    """Base of every answer: camelCase on the wire, unknown fields ignored, so a newer service is fine."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")


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
    created_at: datetime
    updated_at: datetime
    context_mode: ContextMode | None = None
    scope: Scope | None = None
    result: RememberResult | None = None
    error: TaskError | None = None
    workspace_id: str | None = None
    attempt: int = 0
    position: int | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    outcome: Outcome | None = None
    revision: str | None = None
    usage: Usage | None = None

    @property
    def finished(self) -> bool:
        """Whether the task has ended."""
        return self.status in {"completed", "failed"}


class Event(Answer):
    """Something that happened in a workspace.

    Attributes:
        id: place in the workspace's log, from 1; None for notes about the stream itself.
        originator_client_id: who asked for what happened, if they said.
    """

    id: int | None = None
    type: str
    data: dict[str, Any] = Field(default_factory=dict)
    originator_client_id: str | None = None
