"""What an undo or the application of a preview would meet now, for those who only read.

No lock is taken and nothing is written: the task itself looks again, and may find memory otherwise.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.ids import LaneId, TaskId
from memory.beneath import disk_errors
from memory.errors import CommitConflict, PreviewStale, RevisionUndone
from memory.files import StoreFiles
from memory.journal import FencedTask, Journal
from memory.paths import SCOPES, Roots, canonical_folder
from memory.planner import Planner
from memory.reconciling import reconcile
from memory.transaction import Transaction

_NOBODY = FencedTask(TaskId("undo-foreseen"), LaneId("none"), 1, "undo")  # whose transactions never commit


class Foresight:
    """Tells what is known already of tasks on one memory base."""

    def __init__(self, base: Path) -> None:
        """Look at nothing yet.

        Raises:
            StoreUnusable: there is no such folder.
        """
        files = StoreFiles(canonical_folder(base, "memory base"))
        self._journal = Journal(files)
        self._planner = Planner(files, self._journal)

    def require_undoable(self, revision: str, roots: Roots) -> None:
        """Refuse an undo that would come to nothing, as memory is now.

        Raises:
            RevisionNotFound, RevisionPruned: as for ``Store.undo``.
            RevisionUndone: it is taken back already.
            CommitConflict: names the documents, scope first, that changed in a way that can't be merged.
            StoreUnusable: the journal or the memory folders can't be read.
        """
        transaction = Transaction(_NOBODY, roots, writable=frozenset())
        with disk_errors("the memory store"), _named_by(roots):
            self._planner.stage_undo(revision, transaction)
            if not reconcile(transaction):
                raise RevisionUndone(f"{revision} is taken back already")

    def require_applicable(self, preview: TaskId, roots: Roots) -> None:
        """Refuse a preview that does not fit memory as it is now; one that this base knows nothing of passes.

        Raises:
            PreviewStale: names the documents, scope first, that are not as the preview saw them.
            StoreUnusable: as for ``require_undoable``.
        """
        transaction = Transaction(_NOBODY, roots, writable=frozenset())
        with disk_errors("the memory store"), _named_by(roots):
            if self._journal.find(preview) is not None:
                self._planner.restore_preview(preview, transaction)


@contextmanager
def _named_by(roots: Roots) -> Iterator[None]:
    """Name documents as people see them, not by where they lie on this machine."""
    try:
        yield
    except CommitConflict as conflict:
        raise CommitConflict(_names(conflict.paths, roots)) from conflict
    except PreviewStale as stale:
        raise PreviewStale("memory has changed", paths=tuple(_names(stale.paths, roots))) from stale


def _names(paths: Iterable[str], roots: Roots) -> Iterator[str]:
    for path in paths:
        yield from (
            f"{scope}/{path.removeprefix(f'{roots.of(scope)}/')}"
            for scope in SCOPES
            if path.startswith(f"{roots.of(scope)}/")
        )
