"""How memory looks from outside."""

from typing import Any

from core.clock import rfc3339
from core.memory_calls import DocumentDiff
from memory.content import digest
from memory.library import KnownDocument, ListedDocument
from memory.names import is_pinned
from memory.revisions import Revision
from memory.scan import LeftOut
from memory.search import Hit
from memory.standing import is_under_review

_FIELDS_OF_OURS = ("created", "modified", "source", "expires")


def describe_document(known: KnownDocument) -> dict[str, Any]:
    """Render a document with its text, and the digest by which a review names what was seen."""
    content = known.file.content
    shown = {"content": content.decode("utf-8", "replace"), "sha256": digest(content)}
    return describe_listed(known) | shown


def describe_listed(known: KnownDocument | ListedDocument) -> dict[str, Any]:
    """Render a document without its text; its frontmatter fields appear as far as they are there."""
    file, document = known.file, known.document
    described: dict[str, Any] = {
        "scope": file.scope,
        "path": file.path,
        "type": document.type,
        "name": document.name,
        "description": document.description,
        "pinned": is_pinned(file.path.split("/")),
        "underReview": is_under_review(document),
        "sizeBytes": file.size_bytes,
        "modifiedAt": rfc3339(file.mtime_ns // 1_000_000),
    }
    extra = {name: document.extra[name] for name in _FIELDS_OF_OURS if name in document.extra}
    return described | {name: value for name, value in extra.items() if isinstance(value, str)}


def describe_left_out(left_out: LeftOut) -> dict[str, Any]:
    """Render what a scan could not look at."""
    return {"cause": left_out.cause, "path": left_out.path}


def describe_hit(hit: Hit) -> dict[str, Any]:
    """Render a document that a search found."""
    return {
        "scope": hit.scope,
        "path": hit.path,
        "title": hit.title,
        "score": round(hit.score, 4),
        "snippet": hit.snippet,
    }


def describe_revision(revision: Revision) -> dict[str, Any]:
    """Render a commit, without its diffs."""
    shown = {
        "revision": revision.id,
        "taskId": revision.task,
        "kind": revision.kind,
        "clientId": revision.client,
        "committedAt": rfc3339(revision.at_ms),
        "summary": revision.summary,
        "scopes": list(revision.scopes),
        "documents": [{"scope": scope, "path": path} for scope, path in revision.documents],
    }
    return {name: value for name, value in shown.items() if value is not None}


def describe_diff(diff: DocumentDiff) -> dict[str, Any]:
    """Render what changed in one document."""
    return diff.to_wire()
