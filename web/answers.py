"""What answers show of memory and of the service: the models that are rendered and described alike."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    RootModel,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema
from pydantic_core import core_schema

from core.acp import ContextMode, Scope
from core.memory_calls import DocumentDiff, Preview
from core.text import encodable
from memory.scan import Cause

Absent: TypeAlias = SkipJsonSchema[None]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]  # RFC 3339, UTC, milliseconds
Text = Annotated[str, BeforeValidator(encodable)]  # names of files need not be Unicode


@dataclass(frozen=True, slots=True)
class ShownAs:
    """Marks a field that is shown as it was stored: this is what it is described as."""

    shape: type[BaseModel]

    def __get_pydantic_json_schema__(
        self, _schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the field (pydantic's hook)."""
        return handler(self.shape.__pydantic_core_schema__)


class Shown(BaseModel):
    """Base of what is shown: camelCase names; a field that may be ``Absent`` is left out when it is None."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    @model_serializer(mode="wrap")
    def _leave_out(self, render: SerializerFunctionWrapHandler) -> dict[str, Any]:
        required = {field.alias for field in type(self).model_fields.values() if field.is_required()}
        shown: dict[str, Any] = render(self)
        return {name: value for name, value in shown.items() if value is not None or name in required}

    def to_wire(self) -> dict[str, Any]:
        """Render for JSON."""
        return self.model_dump(mode="json", by_alias=True)


class NamedDocument(Shown):
    """Which document.

    Attributes:
        path: relative to the root of its scope.
    """

    scope: Scope
    path: Text


class ListedDocument(NamedDocument):
    """A memory document without its text.

    Attributes:
        type: topic of the memory.
        pinned: whether people alone keep it.
        under_review: whether it waits for a person, and does not count until then.
        modified_at: RFC 3339, UTC, milliseconds.
        created, modified, source, expires: from its frontmatter, as far as they are there.
    """

    type: Text
    name: Text
    description: Text
    pinned: bool
    under_review: bool
    size_bytes: int
    modified_at: Moment
    created: Text | Absent = None
    modified: Text | Absent = None
    source: Text | Absent = None
    expires: Text | Absent = None


class ShownDocument(ListedDocument):
    """A memory document with its text.

    Attributes:
        sha256: of its bytes, in hex; a review names by it what was read.
    """

    content: Text
    sha256: str


class LeftOutPath(Shown):
    """What a listing could not look at.

    Attributes:
        path: relative to the root of its scope.
    """

    cause: Cause
    path: Text


class DocumentPage(Shown):
    """Some documents, by scope and path.

    Attributes:
        next_cursor: what to ask with for the next ones; null when there are none.
    """

    documents: list[ListedDocument]
    left_out: list[LeftOutPath]
    next_cursor: Text | None


class ShownIndex(Shown):
    """The index of one scope.

    Attributes:
        content: markdown; empty when there is no index yet.
    """

    scope: Scope
    content: Text


class SearchHit(NamedDocument):
    """A document that a search found.

    Attributes:
        score: greater is better; only comparable within one search.
        snippet: the line that fits best.
    """

    title: Text
    score: float
    snippet: Text


class SearchHits(Shown):
    """What a search found, best first."""

    hits: list[SearchHit]


class ListedRevision(Shown):
    """A commit to memory, without its diffs.

    Attributes:
        revision: its id.
        kind: of the task that made it.
        client_id: who asked for that task, if they said.
        committed_at: RFC 3339, UTC, milliseconds.
    """

    revision: str
    task_id: str
    kind: str
    client_id: str | Absent = None
    committed_at: Moment
    summary: Text
    scopes: list[Scope]
    documents: list[NamedDocument]


class ShownRevision(ListedRevision):
    """A commit to memory with its diffs."""

    diff: list[DocumentDiff]


class RevisionPage(Shown):
    """Some revisions, newest first.

    Attributes:
        next_before: what to ask with for older ones; null when there are none.
    """

    revisions: list[ListedRevision]
    next_before: str | None


class ProtocolVersions(Shown):
    """Versions of the contract that are spoken."""

    current: Literal["v1"] = "v1"
    supported: list[str] = ["v1"]


class FeatureDetails(Shown):
    """More on one feature."""

    modes: list[ContextMode]


class ServedWorkspace(Shown):
    """A folder that is served.

    Attributes:
        cwd: its canonical path on the service's machine.
        primary: whether ``/workspace/…`` means it.
    """

    id: str
    cwd: Text
    primary: bool
    trusted: bool


class Limits(Shown):
    """How much is taken."""

    content_bytes: int
    body_bytes: int
    pending_tasks: int


class Capabilities(Shown):
    """What the service can do.

    Attributes:
        models: that the live workers use; missing while that can't be told.
    """

    v: Literal[1] = 1
    protocol_versions: ProtocolVersions = ProtocolVersions()
    mode: Literal["http-bridge"] = "http-bridge"
    features: list[str]
    feature_details: dict[str, FeatureDetails]
    workspace_cwd: Text
    transports: list[str]
    workspaces: list[ServedWorkspace]
    limits: Limits
    models: list[str] | Absent = None


class Health(Shown):
    """The probes' yes."""

    status: Literal["ok"] = "ok"


class ShownProblem(Shown):
    """Why a request was refused, in the contract's words.

    Attributes:
        error: for people.
        code: for programs: stable.
        session_id: the session that is not there, or whose client somebody is not.
        client_id: the id that is not known here.
        workspace_count: how many workspaces are served.
        bound_workspace, requested_workspace: folder of the primary workspace; the one that is not served.
        limit: how many streams a session may have.
        member, reason: what is wrong with which member of an archive.
        documents: that are not as the request takes them to be.
    """

    error: Text
    code: str
    session_id: Text | Absent = None
    client_id: str | Absent = None
    workspace_count: int | Absent = None
    bound_workspace: str | Absent = None
    requested_workspace: Text | Absent = None
    limit: int | Absent = None
    member: Text | Absent = None
    reason: str | Absent = None
    documents: list[Text] | Absent = None


class ProblemDetails(ShownProblem):
    """Why a request was refused, as RFC 9457 has it beside the contract's words.

    Attributes:
        type: says nothing beyond the status.
        title: the status in words.
        detail: the same as ``error``.
        instance: path of the request.
    """

    type: Literal["about:blank"] = "about:blank"
    title: str
    status: int
    detail: Text
    instance: Text


class SessionEntry(Shown):
    """A client's part in a session.

    Attributes:
        workspace_cwd: folder of the session's workspace.
        attached: whether the session was there before.
        client_id: for the ``X-Qwen-Client-Id`` header from now on.
        created_at: when the session was made, RFC 3339 UTC with milliseconds.
    """

    session_id: str
    workspace_cwd: str
    attached: bool
    client_id: str
    created_at: str


class Heartbeat(Shown):
    """A session that is kept alive, and by whom.

    Attributes:
        client_id: as it was sent; absent if none was.
        last_seen_at: epoch milliseconds.
    """

    session_id: str
    client_id: str | Absent = None
    last_seen_at: int


class RemovedEntry(Shown):
    """An entry that a forget removed.

    Attributes:
        topic: type of the document that held it.
        summary: its text as one line.
        file_path: absolute, home shown as ``~``.
    """

    topic: str
    summary: str
    file_path: str


class TaskResult(Shown):
    """What a completed task did; each kind fills its own fields.

    Attributes:
        touched_scopes: where memory changed, or would have.
        files_touched: of a remember: absolute paths, home shown as ``~``.
        removed_entries: of a forget.
        touched_topics: of a forget or dream: types of the documents that changed.
        deduped_entries: of a dream: how many documents and entries were merged into others.
        imported_documents: of an import: how many were written.
        skipped_documents: of an import: how many were there already, were kept, or may not be imported.
        purged: true when a later purge has taken away what was here.
        preview: of a dry run, which changes nothing.
    """

    summary: str
    touched_scopes: list[Scope] | Absent = None
    files_touched: list[str] | Absent = None
    removed_entries: list[RemovedEntry] | Absent = None
    touched_topics: list[str] | Absent = None
    deduped_entries: int | Absent = None
    imported_documents: int | Absent = None
    skipped_documents: int | Absent = None
    purged: bool | Absent = None
    preview: Preview | Absent = None


class TaskProgress(Shown):
    """How far a running task is.

    Attributes:
        turn: model calls begun; 0 before the first.
        max_turns: how many there may be; 0 for work that calls no model.
        last_tool: the tool that ran last.
        files_touched: documents written so far, none of which counts before the task's end.
    """

    turn: int
    max_turns: int
    last_tool: str | Absent = None
    files_touched: int


class InterfaceDocument(RootModel[dict[str, Any]]):
    """A description of the interface, for programs."""
