"""Prunes and purges on a disk so slow that the lock's time is over after one entry."""

import json
from contextlib import suppress

import pytest

from memory.errors import StoreBusy
from memory.lock import HeldLock
from memory.store import open_store
from tests.support.git_log import show_log
from tests.support.memory import fenced_task, note

FAR_MS = 4_000_000_000_000


@pytest.fixture
def store(memory_base):
    """A store with three commits of one document."""
    store = open_store(memory_base.path)
    for fence in (1, 2, 3):
        edits = {memory_base.user / "user/secret.md": note(f"hunter2 time {fence}")}
        memory_base.commit(store, fenced_task(fence), edits)
    show_log(memory_base.path)
    return store


@pytest.fixture(autouse=True)
def slow_disk(store, monkeypatch):
    def check(lock):
        lock.checks = getattr(lock, "checks", 0) + 1
        if lock.checks > 1:
            raise StoreBusy("held for too long")

    monkeypatch.setattr(HeldLock, "check", check)


def entries(memory_base):
    return [json.loads(path.read_bytes()) for path in (memory_base.path / "memlane/journal").glob("*.json")]


def test_a_prune_goes_on_where_the_last_one_had_to_end(memory_base, store):
    for _ in range(3):
        with suppress(StoreBusy):
            store.prune(before_ms=FAR_MS)

    assert [change["pruned"] for entry in entries(memory_base) for change in entry["changes"]] == [True] * 3
    assert store.prune(before_ms=FAR_MS) == 0


def test_a_purge_comes_to_its_end(memory_base, store):
    def purge():
        with suppress(StoreBusy):
            return store.purge(fenced_task(3), {("user", "user/secret.md")}, memory_base.roots)

    assert [purge() is not None for _ in range(3)] == [False, False, True]

    assert "hunter2" not in str(entries(memory_base))
