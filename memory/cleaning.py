"""Takes texts out of the store: those of old commits, and those of documents that have to be forgotten."""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager

from core.acp import Scope
from memory.errors import StoreUnusable
from memory.external import ExternalRecords
from memory.files import StoreFiles
from memory.forgetting import shows_document, without_texts
from memory.held import HeldStore
from memory.history import History
from memory.journal import Journal
from memory.paths import Roots, root_name
from memory.previews import Previews
from memory.projection import history_path
from memory.snapshots import Snapshots

BATCH = 50  # entries that are written again under one lock, each takes two fsyncs

Hold = Callable[[], AbstractContextManager[HeldStore]]


class Cleaner:
    """Cleans one store.

    Args:
        hold: takes the store's lock; taken anew for each batch, so that nobody waits long.
    """

    def __init__(self, files: StoreFiles, journal: Journal, history: History, *, hold: Hold) -> None:
        self._files = files
        self._journal = journal
        self._history = history
        self._external = ExternalRecords(files)
        self._previews = Previews(files)
        self._snapshots = Snapshots(files)
        self._hold = hold

    def prune(self, *, before_ms: int) -> int:
        """Take their texts from up to 50 of the oldest entries; see ``Store.prune``."""
        first = self._journal.pruned_seq() + 1
        last = min(self._history.shown_seq(), self._journal.settled_seq(), first + BATCH - 1)
        with self._hold() as held:
            pruned = 0
            for seq in range(first, last + 1):
                intent = self._journal.entry(seq)
                if intent.mtime_ns >= before_ms * 1_000_000:
                    break
                held.applier.lock.check()
                self._external.prune(seq)
                self._journal.rewrite(without_texts(intent, lambda _: True))
                pruned += 1
            if pruned:
                self._journal.store_pruned(first + pruned - 1)
        return pruned

    def purge(self, documents: Collection[tuple[Scope, str]], roots: Roots) -> None:
        """Take every text of some documents; see ``Store.purge``."""
        names = {(root_name(self._files.base, roots.of(scope)), path) for scope, path in documents}
        concerned = list(self._concerned(names, documents))
        if concerned and concerned[-1] > self._journal.settled_seq():
            raise StoreUnusable("a commit of these documents has no place yet")
        for start in range(0, len(concerned), BATCH):
            with self._hold() as held:
                for seq in concerned[start : start + BATCH]:
                    held.applier.lock.check()
                    self._journal.rewrite(
                        without_texts(
                            self._journal.entry(seq), lambda change: (change.root, change.path) in names
                        )
                    )
        with self._hold():
            self._previews.forget(names)
            self._snapshots.forget(documents)
            for root, path in names:
                self._external.forget(str(self._files.base / root / path))
        self._history.forget([history_path(root, path) for root, path in names])

    def _concerned(
        self, names: Collection[tuple[str, str]], documents: Collection[tuple[Scope, str]]
    ) -> Iterator[int]:
        for seq in range(1, self._journal.newest_seq() + 1):
            intent = self._journal.entry(seq)
            is_changed = any((change.root, change.path) in names for change in intent.changes)
            if is_changed or shows_document(intent.result, documents):
                yield seq
