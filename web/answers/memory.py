"""Answers about memory: documents, indexes, hits, revisions."""

from core.acp import Scope
from core.memory_calls import DocumentDiff
from memory.scan import Cause
from web.answers.shown import Absent, Moment, Shown, Text


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
