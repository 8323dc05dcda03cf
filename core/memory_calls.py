"""The calls that work on memory: what they ask and what they answer.

Source: design page "ACP between worker and agent child"; shapes are those of the reference
(`qwen --acp` 0.24.4) with keys of our own that are left out where they don't apply.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, StringConstraints

from core.acp import (
    APPLY,
    IMPORT,
    MAX_IMPORTED,
    REVIEW,
    UNDO,
    ConflictPolicy,
    ContextMode,
    ReviewDecision,
    Scope,
    Topic,
    Usage,
    Wire,
)


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


class ReviewParams(Wire):
    """Params of the review method, which ends a document's wait for a person.

    Attributes:
        path: relative to the root of its scope.
        sha256: of the bytes that the person saw, in hex; others are not decided on.
    """

    cwd: str
    scope: Scope
    path: Text
    decision: ReviewDecision
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class SnapshotParams(Wire):
    """Params of the snapshot method: a child that writes by itself is about to work on the task."""

    cwd: str


class RecordParams(Wire):
    """Params of the record method, which commits what has changed since the snapshot.

    Attributes:
        result: the answer of the child that did it.
    """

    cwd: str
    result: dict[str, Any]


class SnapshotResult(Wire):
    """Answer of the snapshot method.

    Attributes:
        result: what the task answers, if it has committed already; nothing must run then.
    """

    result: dict[str, Any] | None = None


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


class KnownAt(Wire):
    """A document that said before what a task was to remember; the path is relative to its scope's root."""

    scope: Scope
    path: str


class RememberResult(TaskResult):
    """Answer of the remember method.

    Attributes:
        files_touched: absolute paths.
        known_at: ours; only of a task that changed nothing. Its request and summary quote that document.
    """

    private: ClassVar[dict[str, Any]] = {**TaskResult.private, "known_at": True}

    files_touched: list[str]
    known_at: KnownAt | None = None

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


class QuotingTask(Wire):
    """A task whose request or result quotes what a purge has taken from the store."""

    lane_id: str
    task_id: str


class ForgetResult(TaskResult):
    """Answer of the forget method.

    Attributes:
        touched_topics: types of the documents that changed, each once.
        purged_tasks: only of a purge: the earlier tasks of all lanes that changed or showed what it purged.
    """

    private: ClassVar[dict[str, Any]] = {
        **TaskResult.private,
        "purged_tasks": True,
        "removed_entries": {"__all__": {"entry_index": True}},
    }

    removed_entries: list[RemovedEntry]
    touched_topics: list[Topic]
    purged_tasks: list[QuotingTask] | None = None


class LeftMemory(Wire):
    """A root as a finished dream left it, by which the next dream knows it again."""

    scope: Scope
    digest: str


class DreamResult(TaskResult):
    """Answer of the dream method.

    Attributes:
        left: ours; None of a dream that did not come to its end, or had nothing to look at.
        touched_scopes: ours; a foreign child doesn't tell, its dreams are of the project.
        deduped_entries: distinct documents or entries that were merged into others.
    """

    private: ClassVar[dict[str, Any]] = {**TaskResult.private, "touched_scopes": True, "left": True}

    left: LeftMemory | None = None
    touched_scopes: list[Scope] = Field(default_factory=list)
    touched_topics: list[Topic]
    deduped_entries: Annotated[int, Field(ge=0)]


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
        carries_on: whether it finishes what a child of ours had begun.
    """

    method: str
    params: Wire
    result: type[TaskResult]
    carries_on: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether only a child of ours can serve it."""
        return self.carries_on or self.method in (APPLY, UNDO, IMPORT, REVIEW)
