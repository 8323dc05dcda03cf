"""Reading the memory of workspaces; takes no lock and makes nothing, so any process may do it."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from core import clock
from core.acp import Scope
from core.errors import InputError
from core.ids import workspace_id
from memory.archive import Export, gather
from memory.beneath import disk_errors, open_folder
from memory.content import read_regular
from memory.document import Document, parse_document
from memory.foresight import Foresight
from memory.names import INDEX_NAME, is_document, split_absolute
from memory.paths import SCOPES, Roots, locate_roots
from memory.revisions import Revisions
from memory.scan import (
    DocumentHead,
    LeftOut,
    Listener,
    ReadDocument,
    log_left_out,
    read_document,
    read_documents,
    read_heads,
)
from memory.search import Hit, search
from memory.standing import is_under_review

MAX_INDEX_BYTES = 1024 * 1024

_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document that is a memory."""

    file: ReadDocument
    document: Document


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document that is a memory, without its text.

    Attributes:
        document: its body is empty.
    """

    file: DocumentHead
    document: Document


@dataclass(frozen=True, slots=True)
class Listing:
    """Memories of a workspace, by scope and path.

    Attributes:
        left_out: what could not be looked at.
    """

    documents: tuple[ListedDocument, ...]
    left_out: tuple[LeftOut, ...]


class Library:
    """Reads below one memory base; safe for use by many threads."""

    def __init__(self, base: Path, *, local: bool) -> None:
        """Look at nothing yet.

        Args:
            local: whether project memory lies inside each workspace.
        """
        self._base = base
        self._local = local

    def roots(self, workspace: str) -> Roots:
        """The memory roots of a workspace; they need not exist.

        Raises:
            StoreUnusable: the memory base is missing, or a record in it is damaged.
        """
        return locate_roots(self._base, workspace, local=self._local)

    def documents(
        self, workspace: str, scopes: Collection[Scope] = SCOPES, *, only_waiting: bool = False
    ) -> Listing:
        """List the memories of a workspace; only their headers are read, and one after the other.

        Args:
            only_waiting: list those that wait for a review only.

        Raises:
            StoreUnusable: the base is missing or the disk failed.
        """
        left_out: list[LeftOut] = []
        tell = left_out.append
        heads = self._each(workspace, scopes, lambda root, scope: read_heads(root, scope, tell=tell))
        listed = [one for one in map(_listed, heads) if one is not None]
        if only_waiting:
            listed = [one for one in listed if is_under_review(one.document)]
        listed.sort(key=lambda one: (one.file.scope, one.file.path))
        return Listing(tuple(listed), tuple(left_out))

    def search(self, workspace: str, query: str, *, scopes: Collection[Scope], limit: int) -> tuple[Hit, ...]:
        """Find the memories of a workspace that hold words of the query, as ``memory.search.search`` does.

        Raises:
            StoreUnusable: the base is missing or the disk failed.
        """
        return search(self._files(workspace, scopes, tell=log_left_out), query, limit=limit)

    def export(self, workspace: str, scopes: Collection[Scope] = SCOPES) -> Export:
        """Read the memories of a workspace for an archive; ``memory.archive.pack`` writes it.

        Raises:
            ArchiveTooLarge: they have more than 64 MiB together.
            StoreUnusable: the base is missing or the disk failed.
        """
        left_out: list[LeftOut] = []
        documents = gather(self._files(workspace, scopes, tell=left_out.append), tell=left_out.append)
        return Export(workspace_id(workspace), clock.wall_ms(), documents, tuple(left_out))

    def revisions(self) -> Revisions:
        """What was committed below the memory base.

        Raises:
            StoreUnusable: the memory base is missing.
        """
        return Revisions(self._base)

    def foresight(self) -> Foresight:
        """What tasks below the memory base would meet now.

        Raises:
            StoreUnusable: the memory base is missing.
        """
        return Foresight(self._base)

    def require_undoable(self, revision: str, workspace: str, *, is_idle: bool) -> None:
        """Refuse to take back what is known to come to nothing.

        Args:
            is_idle: whether no task of the workspace waits or runs. If one does, what it will change is not
                known yet, and only a revision that is not kept is refused.

        Raises:
            RevisionNotFound, RevisionPruned, StoreUnusable: as for ``Revisions.require_kept``.
            RevisionUndone, CommitConflict: as for ``Foresight.require_undoable``.
        """
        roots = self.roots(workspace)
        if is_idle:
            self.foresight().require_undoable(revision, roots)
        else:
            self.revisions().require_kept(revision, roots)

    def read(self, workspace: str, scope: Scope, path: str) -> KnownDocument | None:
        """Read one memory; None when there is no such one.

        Args:
            path: relative to the root of the scope.

        Raises:
            StoreUnusable: the base is missing or the disk failed.
        """
        if not is_document(path.rpartition("/")[2]):
            return None
        file = self._file(self.roots(workspace).of(scope), scope, path)
        document = parse_document(file.content) if file is not None else None
        return KnownDocument(file, document) if file is not None and document is not None else None

    def index(self, workspace: str, scope: Scope) -> str:
        """The index of a scope as it lies on disk; empty when there is none.

        Raises:
            StoreUnusable: the base is missing or the disk failed.
        """
        root = self.roots(workspace).of(scope)
        try:
            with disk_errors("the memory folders"), open_folder(root) as folder:
                content = read_regular(folder, INDEX_NAME, max_bytes=MAX_INDEX_BYTES)
        except InputError:
            return ""
        return content.decode("utf-8", "replace")

    def _files(self, workspace: str, scopes: Collection[Scope], *, tell: Listener) -> Iterator[ReadDocument]:
        return self._each(workspace, scopes, lambda root, scope: read_documents(root, scope, tell=tell))

    def _each(
        self, workspace: str, scopes: Collection[Scope], read: Callable[[Path, Scope], Iterator[_R]]
    ) -> Iterator[_R]:
        roots = self.roots(workspace)
        with disk_errors("the memory folders"):
            for scope in SCOPES:
                if scope in scopes:
                    yield from read(roots.of(scope), scope)

    @staticmethod
    def _file(root: Path, scope: Scope, path: str) -> ReadDocument | None:
        try:
            *folders, _ = split_absolute(f"/{path}")
            with disk_errors("the memory folders"), open_folder(root, folders) as folder:
                return read_document(folder, path, scope)
        except InputError:
            return None


def _listed(head: DocumentHead) -> ListedDocument | None:
    """What a listing keeps of a document: thousands of them have to fit into memory."""
    document = parse_document(head.beginning)
    if document is None:
        return None
    return ListedDocument(replace(head, beginning=b""), replace(document, body=""))
