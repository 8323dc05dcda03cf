"""ACP as bridge and agent child share it: method names, shapes, error kinds, time limits.

Source: design page "ACP between worker and agent child"; wire shapes are those of the reference
(`qwen --acp` 0.24.4), our own keys live under ``_meta``.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

PROTOCOL_VERSION = 1

INITIALIZE = "initialize"
REQUEST_PERMISSION = "session/request_permission"
PING = "qwen/status/channel/ping"
AVAILABILITY = "qwen/control/workspace/memory/remember/availability"
REMEMBER = "qwen/control/workspace/memory/remember"
FORGET = "qwen/control/workspace/memory/forget"
DREAM = "qwen/control/workspace/memory/dream"
APPLY = "memlane/memory/apply"
UNDO = "memlane/memory/undo"
IMPORT = "memlane/memory/import"
REVIEW = "memlane/memory/review"
SNAPSHOT = "memlane/memory/snapshot"
RECORD = "memlane/memory/record"
RESOLVE = "memlane/memory/resolve"
CANCEL = "memlane/cancel"
PROGRESS = "memlane/progress"  # a notification
CANCEL_REQUEST = "$/cancel_request"  # a notification of ACP's own
AUTHENTICATE = "authenticate"
SESSION_NEW = "session/new"
SESSION_LOAD = "session/load"
SESSION_PROMPT = "session/prompt"
SESSION_CANCEL = "session/cancel"  # a notification
SESSION_UPDATE = "session/update"  # a notification of the agent's
SESSION_LIST = "session/list"
SESSION_CLOSE = "session/close"
MEMORY_METHODS = frozenset({REMEMBER, FORGET, DREAM, APPLY, UNDO, IMPORT, REVIEW})

TASK_META = "memlane/task"
CAPABILITY_META = "memlane"

TASK_FAILED = -32099
REQUEST_CANCELLED = -32800  # what ACP answers to a request that was called off by its id
UNAVAILABLE = -32009
NOT_FOUND = -32002  # of ACP: there is no such thing as the params name

AGENT_TIMEOUT_MS = 295_000  # the child gives up first and says why
BRIDGE_TIMEOUT_MS = 300_000  # then the bridge, for a child that doesn't
RESERVE_MS = BRIDGE_TIMEOUT_MS - AGENT_TIMEOUT_MS

Scope = Literal["user", "project"]
Topic = Literal["user", "feedback", "project", "reference"]
ContextMode = Literal["workspace", "clean"]
ConflictPolicy = Literal["fail", "skip", "replace"]
ReviewDecision = Literal["approve", "reject"]
ArchiveFormat = Literal["tar.gz", "zip"]
MAX_CONTENT_BYTES = 65_536
MAX_BODY_BYTES = 10 * 1024 * 1024  # of a request, so of an archive too, and of what it holds to import
MAX_IMPORTED = 2_000  # documents of one import: what one hold of a store's lock can prepare on a slow disk

ErrorKind = Literal[
    "managed_memory_unavailable",
    "remember_failed",
    "remember_timeout",
    "remember_path_escape",
    "remember_no_update",
    "remember_scope_mismatch",
    "forget_failed",
    "forget_timeout",
    "dream_failed",
    "dream_timeout",
    "undo_failed",
    "undo_timeout",
    "import_failed",
    "import_timeout",
    "review_failed",
    "review_timeout",
    "model_unavailable",
    "model_rejected",
    "budget_exceeded",
    "scope_forbidden",
    "secret_detected",
    "memory_invalid",
    "memory_conflict",
    "preview_stale",
    "revision_not_found",
    "lease_lost",
    "task_closed",
    "task_cancelled",
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
        dry_run: change nothing; the result says in ``preview`` what would have changed. Of no meaning to undo
            and apply, which have shown before what they do.
    """

    task_id: str
    lane_id: str
    fence: Annotated[int, Field(ge=1)]
    timeout_ms: Annotated[int, Field(ge=0)] = AGENT_TIMEOUT_MS
    attempt: Annotated[int, Field(ge=1)] = 1
    client_id: str | None = None
    dry_run: bool = False


class Usage(Wire):
    """What a task cost so far."""

    input_tokens: Annotated[int, Field(ge=0)] = 0
    output_tokens: Annotated[int, Field(ge=0)] = 0
    model_calls: Annotated[int, Field(ge=0)] = 0


class Progress(Wire):
    """How far a task is: params of the progress notification, which only a child of ours sends.

    Attributes:
        turn: model calls begun, from 1; 0 before the first.
        max_turns: how many there may be; 0 for work that calls no model.
        last_tool: name of the tool that ran last.
        files_touched: documents staged so far.
    """

    task_id: str
    turn: Annotated[int, Field(ge=0)] = 0
    max_turns: Annotated[int, Field(ge=0)] = 0
    last_tool: str | None = None
    files_touched: Annotated[int, Field(ge=0)] = 0


class CancelParams(Wire):
    """Params of the cancel method."""

    task_id: str


class CancelResult(Wire):
    """Answer of the cancel method, at once.

    Attributes:
        cancelling: whether the task was running or waiting here. Its own call then fails with
            ``task_cancelled``, unless it had committed already.
    """

    cancelling: bool


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


class Remains(Wire):
    """What a task that has no result changed all the same, because its agent writes by itself."""

    revision: str
    touched_scopes: list[Scope]


class ResolveResult(Wire):
    """Answer of the resolve method.

    Attributes:
        result: the task's recorded result, None if it has none.
        remains: what it left then, as it is recorded now; None for nothing.
    """

    result: dict[str, Any] | None
    remains: Remains | None = None
