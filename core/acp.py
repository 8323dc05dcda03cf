"""ACP as bridge and agent child share it: method names, shapes, error kinds, time limits.

Source: design page "ACP between worker and agent child"; wire shapes are those of the reference
(`qwen --acp` 0.24.4), our own keys live under ``_meta``.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

PROTOCOL_VERSION = 1

INITIALIZE = "initialize"
PING = "qwen/status/channel/ping"
AVAILABILITY = "qwen/control/workspace/memory/remember/availability"
REMEMBER = "qwen/control/workspace/memory/remember"
RESOLVE = "memlane/memory/resolve"

TASK_META = "memlane/task"
CAPABILITY_META = "memlane"

TASK_FAILED = -32099
UNAVAILABLE = -32009

AGENT_TIMEOUT_MS = 295_000  # the child gives up first and says why
BRIDGE_TIMEOUT_MS = 300_000  # then the bridge, for a child that doesn't
RESERVE_MS = BRIDGE_TIMEOUT_MS - AGENT_TIMEOUT_MS

Scope = Literal["user", "project"]
ContextMode = Literal["workspace", "clean"]
MAX_CONTENT_BYTES = 65_536

ErrorKind = Literal[
    "managed_memory_unavailable",
    "remember_failed",
    "remember_timeout",
    "remember_path_escape",
    "remember_no_update",
    "remember_scope_mismatch",
    "model_unavailable",
    "model_rejected",
    "budget_exceeded",
    "secret_detected",
    "memory_invalid",
    "memory_conflict",
    "lease_lost",
    "task_closed",
    "store_busy",
]


class Wire(BaseModel):
    """Base of shapes on the wire: camelCase names, unknown fields ignored, no type juggling."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, strict=True, frozen=True, extra="ignore"
    )

    def to_wire(self) -> dict[str, Any]:
        """Render for JSON; fields that are None are left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class TaskMeta(Wire):
    """Who runs what: sent under ``_meta["memlane/task"]`` with each memory call to our own child.

    Attributes:
        fence: fencing token of the lease under which the task runs.
        timeout_ms: what is left of the task's time when the request is sent, milliseconds.
        attempt: which run of the task this is, from 1.
    """

    task_id: str
    lane_id: str
    fence: Annotated[int, Field(ge=1)]
    timeout_ms: Annotated[int, Field(ge=0)] = AGENT_TIMEOUT_MS
    attempt: Annotated[int, Field(ge=1)] = 1
    client_id: str | None = None


class Usage(Wire):
    """What a task cost so far."""

    input_tokens: Annotated[int, Field(ge=0)] = 0
    output_tokens: Annotated[int, Field(ge=0)] = 0
    model_calls: Annotated[int, Field(ge=0)] = 0


class RememberParams(Wire):
    """Params of the remember method."""

    content: str
    cwd: str
    context_mode: ContextMode = "workspace"
    scope: Scope | None = None


class RememberResult(Wire):
    """Answer of the remember method.

    Attributes:
        files_touched: absolute paths.
        revision: id of the commit (``r<seq>``), only from our own child and only when something changed.
        recovered: the result of an earlier attempt, recorded in the store; nothing ran this time.
    """

    summary: Annotated[str, StringConstraints(max_length=20_000)]
    files_touched: list[str]
    touched_scopes: list[Scope]
    revision: str | None = None
    usage: Usage | None = None
    recovered: bool = False


class ResolveParams(Wire):
    """Params of the resolve method, which asks whether a task ever committed.

    Attributes:
        close: whether a task that did not is closed, so that a later commit of it is refused.
    """

    cwd: str
    task_id: str
    lane_id: str
    fence: Annotated[int, Field(ge=1)]
    close: bool = True


class ResolveResult(Wire):
    """Answer of the resolve method; ``result`` is the task's recorded result, None if it never committed."""

    result: dict[str, Any] | None
