"""What was committed, for those who only read: a list, diffs, and who wrote each version of a document.

Everything comes from the journal, whose entries never change while they have their texts: no lock is
needed, nothing is written, and a commit may run at the same time.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from core.acp import Scope
from core.memory_calls import DocumentDiff
from memory.beneath import disk_errors
from memory.diffs import diff_changes
from memory.errors import RevisionNotFound, RevisionPruned
from memory.files import StoreFiles
from memory.journal import Intent, Journal, PlannedChange
from memory.paths import SCOPES, Roots, canonical_folder, root_name

MAX_SCANNED = 2_000  # entries that one call reads at most
_JOURNAL = "the journal"
_ID = re.compile(r"r([1-9][0-9]{0,17})")


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit as a workspace sees it: of another workspace's project it says nothing.

    Attributes:
        id: ``r<seq>``.
        at_ms: when it was committed, epoch milliseconds.
        documents: scope and path, relative to the scope's root, of each document that it changed.
        summary: one sentence, may be empty.
    """

    id: str
    task: str
    kind: str
    client: str | None
    at_ms: int
    documents: tuple[tuple[Scope, str], ...]
    summary: str

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Scopes in which it changed documents."""
        touched = {scope for scope, _ in self.documents}
        return tuple(scope for scope in SCOPES if scope in touched)


@dataclass(frozen=True, slots=True)
class RevisionPage:
    """A part of the list, newest first.

    Attributes:
        before: what to ask with for older ones; None when there are none. A page may be short, even empty,
            and yet have older ones after it.
    """

    revisions: tuple[Revision, ...]
    before: str | None


class Revisions:
    """Reads the revisions of one memory base."""

    def __init__(self, base: Path) -> None:
        """Read nothing yet.

        Args:
            base: the memory base; it may have no store yet.

        Raises:
            StoreUnusable: there is no such folder.
        """
        self._base = canonical_folder(base, "memory base")
        self._journal = Journal(StoreFiles(self._base))

    def page(self, roots: Roots, *, limit: int, before: str | None = None) -> RevisionPage:
        """List revisions that touch one of these roots.

        Args:
            limit: how many at most, > 0.
            before: id of a revision; only older ones are listed.

        Raises:
            RevisionNotFound: ``before`` is no revision id.
            StoreUnusable: the journal can't be read.
        """
        return self._page(roots, None, limit=limit, before=before)

    def history_of(
        self, roots: Roots, scope: Scope, path: str, *, limit: int, before: str | None = None
    ) -> RevisionPage:
        """List who wrote each version of a document, by which task and client; as for ``page``.

        Args:
            path: relative to the root of its scope.
        """
        return self._page(roots, (scope, path), limit=limit, before=before)

    def find(self, revision: str, roots: Roots) -> Revision:
        """One revision.

        Raises:
            RevisionNotFound: unknown, or it touches none of these roots.
            StoreUnusable: the journal can't be read.
        """
        return _describe(self._find(revision, roots))

    def require_kept(self, revision: str, roots: Roots) -> None:
        """Refuse a revision that can't be shown or taken back.

        Raises:
            RevisionNotFound, StoreUnusable: as for ``find``.
            RevisionPruned: its texts are not kept any more.
        """
        self._find(revision, roots).require_texts()

    def diff(self, revision: str, roots: Roots) -> tuple[DocumentDiff, ...]:
        """What a revision changed in the documents of these roots.

        Raises:
            RevisionNotFound, StoreUnusable: as for ``find``.
            RevisionPruned: its texts are not kept any more.
        """
        return tuple(diff_changes(self._find(revision, roots).require_texts()))

    def _find(self, revision: str, roots: Roots) -> "SeenIntent":
        with disk_errors(_JOURNAL):
            return find_changes(self._journal, revision, base=self._base, roots=roots)

    def _page(
        self, roots: Roots, document: tuple[Scope, str] | None, *, limit: int, before: str | None
    ) -> RevisionPage:
        found: list[Revision] = []
        with disk_errors(_JOURNAL):
            newest = self._journal.newest_seq()
            seq = min(newest + 1, seq_of(before)) if before is not None else newest + 1
            oldest = max(seq - MAX_SCANNED, 1)
            while seq > oldest and len(found) < limit:
                seq -= 1
                revision = _describe(see(self._journal.entry(seq), base=self._base, roots=roots))
                if revision.documents if document is None else document in revision.documents:
                    found.append(revision)
        return RevisionPage(tuple(found), before=f"r{seq}" if seq > 1 else None)


@dataclass(frozen=True, slots=True)
class SeenIntent:
    """An intent as far as a workspace may see it.

    Attributes:
        changes: those in its own roots.
    """

    intent: Intent
    changes: tuple[PlannedChange, ...]

    def require_texts(self) -> tuple[PlannedChange, ...]:
        """The changes, with all their texts.

        Raises:
            RevisionPruned: some are not kept any more.
        """
        if not all(change.has_texts for change in self.changes):
            raise RevisionPruned(f"the texts of r{self.intent.seq} are not kept any more")
        return self.changes


def see(intent: Intent, *, base: Path, roots: Roots) -> SeenIntent:
    """Reduce an intent to what a workspace with these roots may see."""
    names = {scope: root_name(base, roots.of(scope)) for scope in SCOPES}
    return SeenIntent(
        intent, tuple(change for change in intent.changes if change.root == names[change.scope])
    )


def find_changes(journal: Journal, revision: str, *, base: Path, roots: Roots) -> SeenIntent:
    """Look a revision up; needs no lock.

    Raises:
        RevisionNotFound: unknown, or it touches none of these roots.
        StoreUnusable: the journal can't be read.
    """
    seq = seq_of(revision)
    if seq <= journal.newest_seq():
        seen = see(journal.entry(seq), base=base, roots=roots)
        if seen.changes:
            return seen
    raise RevisionNotFound(f"there is no revision {revision} here")


def newest_revision(journal: Journal) -> str | None:
    """Id of the last commit that changed something, looked for among the last 2,000; needs no lock."""
    newest = journal.newest_seq()
    for seq in range(newest, max(newest - MAX_SCANNED, 0), -1):
        if journal.entry(seq).changes:
            return f"r{seq}"
    return None


def seq_of(revision: str) -> int:
    """Number of the intent that a revision id names.

    Raises:
        RevisionNotFound: it is no revision id.
    """
    match = _ID.fullmatch(revision)
    if match is None:
        raise RevisionNotFound("a revision id is r and a number")
    return int(match[1])


def _describe(seen: SeenIntent) -> Revision:
    intent = seen.intent
    return Revision(
        id=f"r{intent.seq}",
        task=intent.task,
        kind=intent.kind,
        client=intent.client,
        at_ms=intent.mtime_ns // 1_000_000,
        documents=tuple((change.scope, change.path) for change in seen.changes),
        summary=str(intent.result.get("summary", "")),
    )
