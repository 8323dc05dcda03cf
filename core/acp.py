"""ACP as bridge and agent child share it: method names, shapes, error kinds, time limits.

Source: design page "ACP between worker and agent child"; wire shapes are those of the reference
(`qwen --acp` 0.24.4), our own keys live under ``_meta``.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

PROTOCOL_VERSION = 1

INITIALIZE = "initialize"
PING = "qwen/status/channel/ping"
AVAILABILITY = "qwen/control/workspace/memory/remember/availability"
REMEMBER = "qwen/control/workspace/memory/remember"
FORGET = "qwen/control/workspace/memory/forget"
DREAM = "qwen/control/workspace/memory/dream"
APPLY = "memlane/memory/apply"
UNDO = "memlane/memory/undo"
IMPORT = "memlane/memory/import"
RESOLVE = "memlane/memory/resolve"
MEMORY_METHODS = frozenset({REMEMBER, FORGET, DREAM, APPLY, UNDO, IMPORT})

TASK_META = "memlane/task"
CAPABILITY_META = "memlane"

TASK_FAILED = -32099
UNAVAILABLE = -32009

AGENT_TIMEOUT_MS = 295_000  # the child gives up first and says why
BRIDGE_TIMEOUT_MS = 300_000  # then the bridge, for a child that doesn't
RESERVE_MS = BRIDGE_TIMEOUT_MS - AGENT_TIMEOUT_MS

Scope = Literal["user", "project"]
Topic = Literal["user", "feedback", "project", "reference"]
ContextMode = Literal["workspace", "clean"]
ConflictPolicy = Literal["fail", "skip", "replace"]
ArchiveFormat = Literal["tar.gz", "zip"]
MAX_CONTENT_BYTES = 65_536
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
        dry_run: change nothing; the result says in ``preview`` what would have changed.
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


class RememberParams(Wire):
    """Params of the remember method."""

    content: str
    cwd: str
    context_mode: ContextMode = "workspace"
    scope: Scope | None = None


class ForgetParams(Wire):
    """Params of the forget method.

    Attributes:
        scope: None searches both.
        purge: ours; whether the documents that it changes lose all texts in the store and its history. Left
            out when they don't: a foreign child knows nothing of it.
    """

    query: str
    cwd: str
    scope: Scope | None = None
    purge: Literal[True] | None = None


class DreamParams(Wire):
    """Params of the dream method.

    Attributes:
        scope: ours; None, like a client that knows nothing of it, means ``project``.
    """

    cwd: str
    scope: Scope | None = None


class ApplyParams(Wire):
    """Params of the apply method, which commits what a preview showed and runs no agent.

    Attributes:
        preview: id of the task that made the preview; its kind is the kind of the result.
    """

    cwd: str
    preview: str


class UndoParams(Wire):
    """Params of the undo method.

    Attributes:
        revision: id of the commit to take back, ``r<seq>``.
    """

    cwd: str
    revision: Annotated[str, StringConstraints(pattern=r"^r[1-9][0-9]{0,17}$")]


def _encodable(text: str) -> str:
    text.encode()  # a lone surrogate has no bytes; what that raises is a ValueError
    return text


Text = Annotated[str, AfterValidator(_encodable)]


class ImportedDocument(Wire):
    """A document to import.

    Attributes:
        path: relative to the root of its scope.
        content: its whole text; its bytes are the UTF-8 of that.
    """

    scope: Scope
    path: Text
    content: Text


class ImportParams(Wire):
    """Params of the import method.

    Attributes:
        conflict: what to do with a document that exists with other bytes: fail the whole import, skip the
            document, or replace what exists.
        skipped: documents that the archive holds beside these and nobody may import.
    """

    cwd: str
    documents: Annotated[list[ImportedDocument], Field(max_length=MAX_IMPORTED)]
    conflict: ConflictPolicy = "fail"
    skipped: Annotated[int, Field(ge=0)] = 0


Summary = Annotated[str, StringConstraints(max_length=20_000)]


class DocumentDiff(Wire):
    """What a preview or a revision does to one document.

    Attributes:
        path: relative to the root of its scope.
        diff: unified diff, context of three lines.
    """

    scope: Scope
    path: str
    change: Literal["created", "updated", "deleted"]
    diff: str


class Preview(Wire):
    """What a task would have changed.

    Attributes:
        base_revision: the newest commit of the store when it was made, None before the first.
    """

    base_revision: str | None = None
    diff: list[DocumentDiff]


class TaskResult(Wire):
    """What every answer of a memory method has, whichever its kind.

    Attributes:
        touched_scopes: where documents changed.
        revision: id of the commit (``r<seq>``), only from our own child and only when something changed.
        recovered: the result of an earlier attempt, recorded in the store; nothing ran this time.
        preview: only of a dry run.
    """

    private: ClassVar[dict[str, Any]] = {"revision": True, "usage": True, "recovered": True}

    summary: Summary
    touched_scopes: list[Scope]
    revision: str | None = None
    usage: Usage | None = None
    recovered: bool = False
    preview: Preview | None = None

    @property
    def changed_scopes(self) -> list[Scope]:
        """Where memory really changed."""
        return [] if self.preview is not None else self.touched_scopes

    def to_public(self) -> dict[str, Any]:
        """Render what HTTP callers see as the task's result."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=self.private)


class RememberResult(TaskResult):
    """Answer of the remember method.

    Attributes:
        files_touched: absolute paths.
    """

    files_touched: list[str]

    @property
    def changed_scopes(self) -> list[Scope]:
        """Where memory really changed; a child that touched no file has changed nothing."""
        return super().changed_scopes if self.files_touched else []


class RemovedEntry(Wire):
    """An entry that a forget removed.

    Attributes:
        topic: type of the document that held it.
        summary: its text as one line.
        file_path: absolute path of that document.
        entry_index: its place in the document, from 0; 0 too when it was the whole document.
    """

    topic: Topic
    summary: str
    file_path: str
    entry_index: Annotated[int, Field(ge=0)] = 0


class ForgetResult(TaskResult):
    """Answer of the forget method.

    Attributes:
        touched_topics: types of the documents that changed, each once.
    """

    private: ClassVar[dict[str, Any]] = {
        **TaskResult.private,
        "removed_entries": {"__all__": {"entry_index": True}},
    }

    removed_entries: list[RemovedEntry]
    touched_topics: list[Topic]


class DreamResult(TaskResult):
    """Answer of the dream method.

    Attributes:
        touched_scopes: ours; a foreign child doesn't tell, its dreams are of the project.
        deduped_entries: distinct documents or entries that were merged into others.
    """

    private: ClassVar[dict[str, Any]] = {**TaskResult.private, "touched_scopes": True}

    touched_scopes: list[Scope] = Field(default_factory=list)
    touched_topics: list[Topic]
    deduped_entries: Annotated[int, Field(ge=0)]

    @property
    def changed_scopes(self) -> list[Scope]:
        """Where memory really changed; the project, if a child tells topics only."""
        changed = super().changed_scopes
        return ["project"] if self.touched_topics and not changed and self.preview is None else changed


class ImportResult(TaskResult):
    """Answer of the import method.

    Attributes:
        imported_documents: how many were written.
        skipped_documents: how many were there already, were not to be replaced, or may not be imported.
    """

    imported_documents: Annotated[int, Field(ge=0)]
    skipped_documents: Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class MemoryCall:
    """A call that may change memory.

    Attributes:
        result: shape of its answer.
    """

    method: str
    params: Wire
    result: type[TaskResult]

    @property
    def is_ours(self) -> bool:
        """Whether only a child of ours can serve it."""
        return self.method in (APPLY, UNDO, IMPORT)


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
