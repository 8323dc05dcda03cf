"""What the service answers, typed."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

from core.acp import ContextMode, Scope
from core.clock import rfc3339

# the words of this version; a newer service may say others
Status = Literal["queued", "running", "completed", "failed"] | str
Outcome = Literal["completed", "failed", "cancelled"] | str
SomeScope = Scope | str
Moment = Annotated[
    datetime, PlainSerializer(lambda moment: rfc3339(round(moment.timestamp() * 1000)), when_used="json")
]


class Answer(BaseModel):
    """Base of every answer: camelCase on the wire; what a newer service says beyond it is kept as it came."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="allow")

    def to_json(self) -> str:
        """Render on one line what the service said, and no more than that."""
        return self.model_dump_json(by_alias=True, exclude_unset=True)


class Page(Answer):
    """Base of listings that come in pages."""

    @property
    def following(self) -> Mapping[str, str]:
        """What the query of the next page says beyond that of the first; empty when there is none."""
        return {}


class CursorPage(Page):
    """Base of those that are continued by a cursor.

    Attributes:
        next_cursor: what to ask with for the next one; None when there is none.
    """

    next_cursor: str | None = None

    @property
    def following(self) -> Mapping[str, str]:
        """The cursor, if there is a next page."""
        return {} if self.next_cursor is None else {"cursor": self.next_cursor}


class RemovedEntry(Answer):
    """An entry that was forgotten.

    Attributes:
        topic: type of the document that held it.
        summary: its text as one line.
        file_path: path on the service's machine, its home folder shown as ``~``.
    """

    topic: str
    summary: str
    file_path: str


class DocumentDiff(Answer):
    """What a preview or a revision does to one document.

    Attributes:
        path: relative to the memory folder of its scope.
        change: ``created``, ``updated`` or ``deleted``.
        diff: unified diff.
    """

    scope: SomeScope
    path: str
    change: str
    diff: str


class Preview(Answer):
    """What a task would have changed.

    Attributes:
        base_revision: the newest commit when it was made, None before the first.
    """

    base_revision: str | None = None
    diff: tuple[DocumentDiff, ...] = ()


class TaskResult(Answer):
    """What a completed task did; each kind fills its own fields.

    Attributes:
        touched_scopes: where memory changed (all kinds but dream).
        files_touched: of a remember: paths on the service's machine, its home folder shown as ``~``.
        removed_entries: of a forget.
        touched_topics: of a forget or dream: types of the documents that changed.
        deduped_entries: of a dream: how many were merged into others.
        imported_documents: of an import: how many were written.
        skipped_documents: of an import: how many were there already, were not to be replaced, or may not be
            imported.
        preview: of a dry run, which changes nothing.
    """

    summary: str
    touched_scopes: tuple[SomeScope, ...] = ()
    files_touched: tuple[str, ...] = ()
    removed_entries: tuple[RemovedEntry, ...] = ()
    touched_topics: tuple[str, ...] = ()
    deduped_entries: int = 0
    imported_documents: int = 0
    skipped_documents: int = 0
    preview: Preview | None = None


class TaskError(Answer):
    """Why a task failed; the text is fixed for each code."""

    code: str
    message: str


class Usage(Answer):
    """What a task cost so far."""

    input_tokens: int = 0
    output_tokens: int = 0
    model_calls: int = 0


class Progress(Answer):
    """How far a running task is.

    Attributes:
        turn: model calls begun; 0 before the first.
        max_turns: how many there may be; 0 for work that calls no model.
        last_tool: the tool that ran last.
        files_touched: documents written so far, none of which counts before the task's end.
    """

    turn: int = 0
    max_turns: int = 0
    last_tool: str | None = None
    files_touched: int = 0


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
        progress: while it runs, as far as the agent has told.
        retry_of: the task whose request it repeats.
        cancel_requested: somebody wants it cancelled; it may complete all the same.
    """

    task_id: str
    status: Status
    created_at: Moment
    updated_at: Moment
    context_mode: ContextMode | str | None = None
    scope: SomeScope | None = None
    result: TaskResult | None = None
    error: TaskError | None = None
    workspace_id: str | None = None
    attempt: int = 0
    position: int | None = None
    started_at: Moment | None = None
    finished_at: Moment | None = None
    outcome: Outcome | None = None
    revision: str | None = None
    usage: Usage | None = None
    progress: Progress | None = None
    cancel_requested: bool = False
    retry_of: str | None = None

    @property
    def kind(self) -> str:
        """What kind of task it is, as its id says."""
        return self.task_id.partition("-")[0]

    @property
    def standing(self) -> tuple[object, ...]:
        """What changes on its way to the end."""
        return self.status, self.position, self.progress

    @property
    def finished(self) -> bool:
        """Whether the task has ended."""
        return self.status in {"completed", "failed"}


class TaskPage(CursorPage):
    """Some tasks, newest first, without their results."""

    tasks: tuple[Task, ...]


class Document(Answer):
    """Names a memory document.

    Attributes:
        path: relative to the memory folder of its scope.
    """

    scope: SomeScope
    path: str


class StoredDocument(Document):
    """A memory document as the service holds it.

    Attributes:
        pinned: whether it is a person's own, which no task writes.
        under_review: whether it waits for a person, out of every index and search.
        content, sha256: its text, and the digest of its bytes in hex; only when it was asked for alone.
    """

    name: str
    description: str = ""
    type: str | None = None
    pinned: bool = False
    under_review: bool = False
    size_bytes: int | None = None
    modified_at: Moment | None = None
    content: str | None = None
    sha256: str | None = None


class LeftOut(Answer):
    """What a listing could not look at.

    Attributes:
        cause: such as ``too_large``.
        path: relative to the memory folder of its scope.
    """

    cause: str
    path: str


class StoredDocuments(CursorPage):
    """Some documents, by scope and path.

    Attributes:
        left_out: what else there is, and can't be shown.
    """

    documents: tuple[StoredDocument, ...]
    left_out: tuple[LeftOut, ...] = ()


class MemoryIndex(Answer):
    """The generated list of a scope's documents.

    Attributes:
        content: of its ``MEMORY.md``.
    """

    scope: SomeScope
    content: str


class Hit(Document):
    """A document that a search found.

    Attributes:
        score: greater is better; comparable within one search only.
        snippet: the words that were found with some around them.
    """

    title: str = ""
    score: float = 0.0
    snippet: str = ""


class Hits(Answer):
    """What a search found, best first."""

    hits: tuple[Hit, ...]


class Revision(Answer):
    """One commit to memory.

    Attributes:
        revision: its id, ``r`` and a number.
        kind: of the task that committed it.
        client_id: who asked for the task, if they said.
        documents: what it changed, as far as it is this workspace's.
        diff: what changed, when one revision was asked for.
    """

    revision: str
    task_id: str
    kind: str
    client_id: str | None = None
    committed_at: Moment
    summary: str = ""
    documents: tuple[Document, ...] = ()
    diff: tuple[DocumentDiff, ...] = ()


class RevisionPage(Page):
    """Some revisions, newest first.

    Attributes:
        next_before: what to ask with for older ones; None when there are none.
    """

    revisions: tuple[Revision, ...]
    next_before: str | None = None

    @property
    def following(self) -> Mapping[str, str]:
        """Where the older ones begin, if there are any."""
        return {} if self.next_before is None else {"before": self.next_before}


class ServedWorkspace(Answer):
    """A folder that the service serves.

    Attributes:
        cwd: its canonical path on the service's machine.
    """

    id: str
    cwd: str
    primary: bool = False


class Capabilities(Answer):
    """What the service can do.

    Attributes:
        features: names, ours with ``memlane_`` before them.
        limits: by name, sizes in bytes.
        models: which the live workers use; None if the service can't tell now.
    """

    features: tuple[str, ...] = ()
    workspaces: tuple[ServedWorkspace, ...] = ()
    workspace_cwd: str | None = None
    limits: dict[str, Any] = Field(default_factory=dict)
    models: tuple[str, ...] | None = None


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
