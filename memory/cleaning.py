"""Takes texts out of the store: those of old commits, and those of documents that have to be forgotten."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager

from core.acp import Scope
from core.ids import LaneId, TaskId
from memory.errors import StoreUnusable
from memory.external import ExternalRecords
from memory.files import StoreFiles
from memory.forgetting import Trace, trace, with_sources, without_texts
from memory.held import HeldStore
from memory.history import History
from memory.journal import DocumentName, Intent, Journal
from memory.paths import SCOPES, Roots, root_name
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
        first, settled = self._journal.pruned_seq() + 1, self._journal.settled_seq()
        if first > settled or not _is_older(self._journal.entry(first), before_ms):
            return 0  # by far the most common answer, and cheap: the history makes itself durable when asked
        last = min(self._history.shown_seq(), settled, first + BATCH - 1)
        pruned = 0
        with self._hold() as held:
            try:
                for intent in map(self._journal.entry, range(first, last + 1)):
                    if not _is_older(intent, before_ms):
                        break
                    held.applier.lock.check()
                    self._external.prune(intent.seq)
                    self._journal.rewrite(without_texts(intent, lambda _: True))
                    pruned += 1
            finally:  # on a slow disk the lock's time is over before the batch is: the next one goes on here
                if pruned:
                    self._journal.store_pruned(first + pruned - 1)
        return pruned

    def purge(
        self, documents: Collection[tuple[Scope, str]], roots: Roots, *, lane: LaneId
    ) -> tuple[tuple[LaneId, TaskId], ...]:
        """Take every text of some documents; see ``Store.purge``.

        Args:
            lane: of the workspace that asks for it.
        """
        names_of = {scope: root_name(self._files.base, roots.of(scope)) for scope in SCOPES}
        asked = {(names_of[scope], path) for scope, path in documents}
        traces = [trace(intent, lane=lane, roots=names_of) for intent in self._intents()]
        names = with_sources(asked, traces)
        concerned = [entry for entry in traces if entry.concerns(names)]
        for start in range(0, len(concerned), BATCH):
            self._strip(concerned[start : start + BATCH], names)
        with self._hold():
            self._previews.forget(names)
            self._external.forget(
                {str(self._files.base / root / path) for root, path in names},
                seqs={entry.seq for entry in concerned},
            )
            self._snapshots.forget(names)
        self._history.forget([history_path(root, path) for root, path in names])
        return tuple((entry.lane, entry.task) for entry in concerned)

    def _intents(self) -> Iterator[Intent]:
        return (self._journal.entry(seq) for seq in range(1, self._journal.newest_seq() + 1))

    def _strip(self, entries: Iterable[Trace], names: Collection[DocumentName]) -> None:
        with self._hold() as held:
            # an entry that still has to reach its root needs its texts; other roots may wait
            if not self._journal.open_roots().isdisjoint(root for root, _ in names):
                raise StoreUnusable("a commit of these documents has no place yet")
            for entry in entries:
                intent = self._journal.entry(entry.seq)
                stripped = without_texts(intent, lambda change: change.name in names)
                if stripped != intent:  # else an earlier try had the time for it
                    held.applier.lock.check()
                    self._journal.rewrite(stripped)


def _is_older(intent: Intent, before_ms: int) -> bool:
    return intent.mtime_ns < before_ms * 1_000_000
