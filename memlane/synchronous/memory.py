# Made from memlane/asynchronous/memory.py by ./dev fmt; change that.
"""Reading memory, reviewing it, taking it along."""

from collections.abc import Generator
from typing import Literal

from core.acp import ArchiveFormat, ConflictPolicy, ReviewDecision, Scope
from memlane.addresses import document_path, memory_path
from memlane.answers import parsed
from memlane.models import Document, Hit, Hits, MemoryIndex, StoredDocument, StoredDocuments, Task
from memlane.request import Upload, reading, submission
from memlane.synchronous.caller import Caller

_PAGE = 1_000
_ZIP_BEGINS = b"PK"


class MemoryCalls(Caller):
    """Documents, indexes, search, reviews and archives."""

    def documents(
        self,
        *,
        scope: Scope | None = None,
        review: Literal["waiting"] | None = None,
        workspace: str | None = None,
    ) -> Generator[StoredDocument]:
        """Go through documents by scope and path, without their text; pages are fetched as they are needed.

        Args:
            scope: only this memory; None means all.
            review: only those that wait for one.
            workspace: id or absolute path of a configured one; None means the primary.

        Raises:
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        path = memory_path(workspace, "documents", scope=scope, review=review, limit=_PAGE)
        for page in self._pages(StoredDocuments, path):
            yield from page.documents

    def document_page(
        self,
        *,
        scope: Scope | None = None,
        review: Literal["waiting"] | None = None,
        limit: int = _PAGE,
        cursor: str | None = None,
        workspace: str | None = None,
    ) -> StoredDocuments:
        """Read some documents, and what else there is that can't be shown.

        Args:
            limit: 1 to 1,000.
            cursor: ``next_cursor`` of the page before.
            scope, review, workspace: as for ``documents``.

        Raises:
            Same as ``documents``.
        """
        query = {"scope": scope, "review": review, "limit": limit, "cursor": cursor}
        answer = self._transport.send(reading(memory_path(workspace, "documents", **query)))
        return parsed(StoredDocuments, answer)

    def waiting(self, *, workspace: str | None = None) -> tuple[StoredDocument, ...]:
        """List the documents that wait for a review, without their text.

        Raises:
            Same as ``documents``.
        """
        found = self.documents(review="waiting", workspace=workspace)
        return tuple(found)

    def document(self, document: Document, *, workspace: str | None = None) -> StoredDocument:
        """Read one document with its text.

        Raises:
            NotFound: there is no such document.
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        answer = self._transport.send(reading(document_path(document, workspace)))
        return parsed(StoredDocument, answer)

    def index(self, scope: Scope, *, workspace: str | None = None) -> MemoryIndex:
        """Read the generated list of a scope's documents, which agents see first.

        Raises:
            Same as ``documents``.
        """
        answer = self._transport.send(reading(memory_path(workspace, "index", scope)))
        return parsed(MemoryIndex, answer)

    def search(
        self, query: str, *, scope: Scope | None = None, limit: int = 20, workspace: str | None = None
    ) -> tuple[Hit, ...]:
        """Find documents that hold words of a query, best first.

        Args:
            scope: only this memory; None means all.
            limit: 1 to 100.
            workspace: as for ``documents``.

        Raises:
            Same as ``documents``.
        """
        path = memory_path(workspace, "search", q=query, scope=scope, limit=limit)
        return parsed(Hits, self._transport.send(reading(path))).hits

    def review(
        self,
        document: StoredDocument,
        decision: ReviewDecision,
        *,
        workspace: str | None = None,
        idempotency_key: str | None = None,
    ) -> Task:
        """Ask for a document that waits to be approved, or rejected and thereby removed, as it was read.

        Args:
            document: as ``document`` gave it.
            workspace, idempotency_key: as for ``remember``.

        Raises:
            NotFound: it is gone.
            MemlaneApiError: refused; ``memory_conflict`` if it has changed since, ``not_under_review`` if it
                does not wait.
            QueueFull, Unreachable: as for ``remember``.
        """
        body = {"decision": decision, "sha256": document.sha256}
        path = f"{document_path(document, workspace)}/review"
        return self._task(submission(path, body, key=idempotency_key))

    def export_memory(
        self,
        *,
        archive_format: ArchiveFormat = "tar.gz",
        scope: Scope | None = None,
        workspace: str | None = None,
    ) -> bytes:
        """Read all memories as one archive, ``pinned/`` included, with a ``manifest.json`` that lists them.

        Args:
            scope: only this memory; None means all.
            workspace: as for ``remember``.

        Raises:
            MemlaneApiError: refused; ``archive_too_large`` if there are more than 64 MiB.
            Unreachable: no answer.
        """
        path = memory_path(workspace, "export", format=archive_format, scope=scope)
        return (self._transport.send(reading(path))).content

    def import_memory(
        self,
        archive: bytes,
        *,
        conflict: ConflictPolicy = "fail",
        workspace: str | None = None,
        idempotency_key: str | None = None,
    ) -> Task:
        """Ask for the documents of an archive to be written as they are, all in one revision or none.

        Args:
            archive: zip or tar.gz, 10 MiB at most, as ``export_memory`` gives it. ``pinned/`` is left alone.
            conflict: what to do with a document that exists with other content: ``fail`` the whole task
                with ``memory_conflict``, ``skip`` the document, or ``replace`` what exists.
            workspace, idempotency_key: as for ``remember``.

        Raises:
            MemlaneApiError: refused; ``invalid_archive`` names the member that can't be imported.
            QueueFull, Unreachable: as for ``remember``.
        """
        is_zip = archive.startswith(_ZIP_BEGINS)
        body = Upload(archive, "application/zip" if is_zip else "application/gzip")
        path = memory_path(workspace, "import", conflict=conflict)
        return self._task(submission(path, body, key=idempotency_key))
