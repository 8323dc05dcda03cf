"""How memory looks from outside."""

from collections.abc import Iterable
from typing import Any

from core.clock import rfc3339
from core.memory_calls import DocumentDiff
from memory.content import digest
from memory.library import KnownDocument
from memory.library import ListedDocument as HeadOfDocument
from memory.names import is_pinned
from memory.revisions import Revision
from memory.scan import LeftOut
from memory.search import Hit
from memory.standing import is_under_review
from web.answers.memory import (
    LeftOutPath,
    ListedDocument,
    ListedRevision,
    NamedDocument,
    SearchHit,
    ShownDocument,
    ShownRevision,
)

_FIELDS_OF_OURS = ("created", "modified", "source", "expires")


def describe_document(known: KnownDocument) -> ShownDocument:
    """Describe a document with its text, and the digest by which a review names what was seen."""
    content = known.file.content
    return ShownDocument(
        **_outline(known), content=content.decode("utf-8", "replace"), sha256=digest(content)
    )


def describe_listed(known: HeadOfDocument) -> ListedDocument:
    """Describe a document without its text; its frontmatter fields appear as far as they are there."""
    return ListedDocument(**_outline(known))


def _outline(known: KnownDocument | HeadOfDocument) -> dict[str, Any]:
    file, document = known.file, known.document
    extra = {name: document.extra.get(name) for name in _FIELDS_OF_OURS}
    return {
        "scope": file.scope,
        "path": file.path,
        "type": document.type,
        "name": document.name,
        "description": document.description,
        "pinned": is_pinned(file.path.split("/")),
        "under_review": is_under_review(document),
        "size_bytes": file.size_bytes,
        "modified_at": rfc3339(file.mtime_ns // 1_000_000),
        **{name: value for name, value in extra.items() if isinstance(value, str)},
    }


def describe_left_out(left_out: LeftOut) -> LeftOutPath:
    """Describe what a scan could not look at."""
    return LeftOutPath(cause=left_out.cause, path=left_out.path)


def describe_hit(hit: Hit) -> SearchHit:
    """Describe a document that a search found."""
    return SearchHit(
        scope=hit.scope,
        path=hit.path,
        title=hit.title,
        score=round(hit.score, 4),
        snippet=hit.snippet,
    )


def describe_revision(revision: Revision) -> ListedRevision:
    """Describe a commit, without its diffs."""
    return ListedRevision(**_commit(revision))


def describe_changes(revision: Revision, diffs: Iterable[DocumentDiff]) -> ShownRevision:
    """Describe a commit with its diffs."""
    return ShownRevision(**_commit(revision), diff=list(diffs))


def _commit(revision: Revision) -> dict[str, Any]:
    return {
        "revision": revision.id,
        "task_id": revision.task,
        "kind": revision.kind,
        "client_id": revision.client,
        "committed_at": rfc3339(revision.at_ms),
        "summary": revision.summary,
        "scopes": list(revision.scopes),
        "documents": [NamedDocument(scope=scope, path=path) for scope, path in revision.documents],
    }
