"""What a commit of many documents has left once its task has committed.

One hold of the store's lock is a few seconds at most: too short to place thousands of files, and no time to
parse them for an index. Ordinary commits never come here.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from core.logs import get_logger
from memory.apply import FAILURES, MAX_PARSED_UNDER_LOCK, find_drift
from memory.errors import StoreBusy
from memory.held import HeldStore
from memory.journal import Intent, Journal

MAX_HOLDS = 24

_log = get_logger(__name__)

Hold = Callable[[], AbstractContextManager[HeldStore]]


def complete(intent: Intent, journal: Journal, hold: Hold, *, base: Path) -> None:
    """Bring a large commit to its place and into the indexes; what prevents that is left to later holders.

    Args:
        hold: takes the store's lock anew; whoever has it goes on with what is open.
    """
    if len(intent.changes) <= MAX_PARSED_UNDER_LOCK:
        return
    try:
        _place(intent, journal, hold)
        mend_indexes((base / root for root in intent.roots), hold)
    except FAILURES as error:
        _log.warning("commit_left_open", seq=intent.seq, task=intent.task, reason=str(error))


def _place(intent: Intent, journal: Journal, hold: Hold) -> None:
    for _ in range(MAX_HOLDS):
        if journal.next_seq() > intent.seq and journal.open_roots().isdisjoint(intent.roots):
            return
        # every holder goes on with what is open first; one that runs out of time has got further all the same
        with suppress(StoreBusy), hold():
            pass


def mend_indexes(roots: Iterable[Path], hold: Hold) -> None:
    """Rebuild the indexes that don't say what is on disk; documents are parsed before the lock is taken.

    Raises:
        StoreBusy, StoreUnusable: the lock was not to be had.
    """
    drifted = find_drift(roots)
    if drifted:
        with hold() as held:
            for root in drifted:
                held.applier.rebuild_index(root)
