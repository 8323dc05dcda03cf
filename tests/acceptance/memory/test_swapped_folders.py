"""A folder of memory that is swapped for a link while tasks write: nothing outside is touched or read."""

import subprocess
import sys
from pathlib import Path

from core.errors import MemlaneError
from memory.store import Store, open_store
from tests.support import swapper
from tests.support.memory import BOTH, MemoryBase, describe, fenced_task, note, tree

WRITES = 40
SECRET = b"not for any agent"


def test_nothing_outside_changes_or_is_seen(memory_base: MemoryBase, tmp_path: Path) -> None:
    outside, folder, stop = tmp_path / "outside", memory_base.user / "user", tmp_path / "stop"
    for path in (outside, folder):
        path.mkdir()
    (outside / "fact.md").write_bytes(note("Outside", body=f"\n{SECRET.decode()}\n"))
    before = tree(outside)
    store = open_store(memory_base.path)
    command = [sys.executable, swapper.__file__, str(folder), str(outside), str(stop)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for number in range(WRITES):
            assert SECRET not in read(store, memory_base, folder / "fact.md")
            write(store, memory_base, folder / f"fact-{number}.md")
        stop.touch()
        swaps = int(process.stdout.readline())

    committed = sum(write(store, memory_base, folder / f"late-{number}.md") for number in range(2))
    assert (process.returncode, committed) == (0, 2)
    assert tree(outside) == before
    assert swaps >= swapper.MIN_SWAPS


def read(store: Store, base: MemoryBase, path: Path) -> bytes:
    try:
        return store.begin(fenced_task(), base.roots, writable=BOTH).read(str(path))
    except MemlaneError:
        return b""


def write(store: Store, base: MemoryBase, path: Path) -> bool:
    """Commit a document; whether it was committed."""
    task = fenced_task()
    try:
        store.seal(task)
        transaction = store.begin(task, base.roots, writable=BOTH)
        transaction.write(str(path), note("Fact"))
        store.commit(transaction, result_of=describe)
    except MemlaneError:
        return store.resolve(task, close=True) is not None
    return True
