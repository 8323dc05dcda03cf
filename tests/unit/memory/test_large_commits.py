"""Commits of more documents than one hold of the lock can place."""

import pytest

from memory.apply import MAX_PARSED_UNDER_LOCK
from memory.errors import StoreBusy, StoreUnusable
from memory.paths import Roots
from memory.store import Store, open_store
from tests.support.memory import BOTH, FailAt, MemoryBase, describe, fenced_task, note, revision

COUNT = MAX_PARSED_UNDER_LOCK + 6


class BusyAt:
    """Checkpoint at which the lock has been held for too long, so many times in a row."""

    def __init__(self, name: str, *, after: int, times: int = 1) -> None:
        self._name = name
        self._left = after
        self._times = times

    def __call__(self, name: str) -> None:
        if name != self._name:
            return
        self._left -= 1
        if self._left < 0 and self._times:
            self._times -= 1
            raise StoreBusy("held too long")


def commit_many(memory_base: MemoryBase, store: Store) -> str | None:
    task, roots = fenced_task(), Roots(memory_base.user, memory_base.project)
    store.seal(task)
    transaction = store.begin(task, roots, writable=BOTH, max_files=COUNT)
    for number in range(COUNT):
        transaction.write(str(memory_base.user / f"user/{number}.md"), note(f"Note {number}"))
    return revision(store.commit(transaction, result_of=describe))


@pytest.mark.parametrize("times", [1, 5])
def test_what_one_hold_was_too_short_for_is_placed_by_further_ones(
    memory_base: MemoryBase, times: int
) -> None:
    store = open_store(memory_base.path, checkpoint=BusyAt("part durable", after=10, times=times))

    assert commit_many(memory_base, store) == "r1"

    assert len(list((memory_base.user / "user").iterdir())) == COUNT
    assert len((memory_base.user / "MEMORY.md").read_text().splitlines()) == COUNT


def test_a_disk_that_fails_after_the_commit_leaves_it_to_the_next_holder(memory_base: MemoryBase) -> None:
    store = open_store(memory_base.path, checkpoint=FailAt("part durable", time=10))

    assert commit_many(memory_base, store) == "r1"
    open_store(memory_base.path).seal(fenced_task(2))

    assert len(list((memory_base.user / "user").iterdir())) == COUNT


def test_a_store_that_is_gone_afterwards_does_not_undo_the_commit(memory_base: MemoryBase) -> None:
    store_id = memory_base.path / "memlane/store-id"

    def lose_store(name: str) -> None:
        if name == "part durable" and store_id.exists():
            store_id.unlink()
            raise StoreUnusable("gone")

    assert commit_many(memory_base, open_store(memory_base.path, checkpoint=lose_store)) == "r1"
