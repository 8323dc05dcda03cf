"""What the holder of a store's lock does: bring committed intents to their places, commit new ones."""

from collections.abc import Collection

from core.logs import get_logger
from memory.apply import FAILURES, Applier
from memory.errors import StoreBusy, StoreUnusable
from memory.files import StoreFiles
from memory.journal import Intent, Journal, OpenIntent

_log = get_logger(__name__)


class HeldStore:
    """A store whose lock is held.

    Attributes:
        applier: brings changes into the roots.
        files, journal: the store's, for whoever holds it.
    """

    def __init__(self, files: StoreFiles, journal: Journal, applier: Applier) -> None:
        self.applier = applier
        self.files = files
        self.journal = journal
        self._blocked: dict[str, Exception] = {}

    def tidy_up(self) -> None:
        """Finish what earlier holders left: drafts go, committed intents are tried again, oldest first.

        A root that an intent can't reach is blocked, and only that root.

        Raises:
            StoreBusy: the lock was held too long.
            StoreUnusable: the store's disk failed or a record is damaged.
        """
        for draft in self.journal.abandoned_drafts():
            self.applier.discard(draft)
        self.files.sweep()
        for opened in self.journal.open_intents():
            self._finish(opened)

    def require_unblocked(self, roots: Collection[str]) -> None:
        """Refuse to commit to a root that an earlier intent still has to reach: their order is the journal's.

        Raises:
            StoreBusy, StoreUnusable: as what keeps the earlier intent from its place.
        """
        for root in roots:
            if root in self._blocked:
                reason = self._blocked[root]
                refusal = StoreBusy if isinstance(reason, StoreBusy) else StoreUnusable
                raise refusal(f"an earlier commit has no place yet in {root}: {reason}") from reason

    def commit(self, intent: Intent) -> None:
        """Commit an intent and bring it to its place; what is left of that is for later holders.

        Raises:
            StoreBusy: the lock was held too long.
            StoreUnusable: the disk is full or refuses, or something stands in a document's way.
            OSError: as above. After any of these it has not committed, unless the disk failed in the
                very last step, the journal's fsync.
        """
        try:
            self.journal.draft(intent)
            self.applier.prepare(intent)
            self.applier.lock.check()
            self.journal.append(intent)
        except BaseException:
            self._take_back(intent)
            raise
        self._finish_or_leave(intent)

    def _take_back(self, intent: Intent) -> None:
        # harmless if the intent has committed after all: it is brought to its place without its drafts
        self.applier.discard(intent)
        self.journal.drop_draft(intent)

    def _finish_or_leave(self, intent: Intent) -> None:
        # The task has committed with the journal's fsync: nothing after it may turn that into a failure.
        try:
            self._finish(OpenIntent(intent, intent.roots))
        except FAILURES as error:
            _log.error("commit_left_open", seq=intent.seq, task=intent.task, reason=str(error))

    def _finish(self, opened: OpenIntent) -> None:
        intent = opened.intent
        unreached = self.applier.apply(opened)
        self.files.checkpoint("applied")
        self._blocked |= unreached
        if unreached:
            self.applier.lock.check()  # past its time, the next holder finds out for itself
        if self.journal.settle(intent, unreached=unreached):
            for root, error in unreached.items():
                _log.error("commit_left_open", seq=intent.seq, task=intent.task, root=root, reason=str(error))
