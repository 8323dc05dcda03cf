"""What another writer wrote is in the root or in the history, whatever he and we do at the same time."""

import random
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path

import pytest

from core.errors import MemlaneError
from memory.store import open_store
from tests.support.git_log import show_log
from tests.support.meddler import DESTROYED, WROTE, fingerprint, meddle
from tests.support.memory import BOTH, MemoryBase, describe, fenced_task, note, tree
from tests.support.memory_process import exit_code, start_child


class GiveTurns:
    """Checkpoint that gives the other writer a turn at some of our steps."""

    def __init__(self, turns, *, seed):
        self._turns = turns
        self._random = random.Random(seed)

    def __call__(self, _name):
        if self._random.random() < 0.15:
            self._turns.send_bytes(b"!")


def change_something(base: MemoryBase, store, paths, fence, *, chance) -> None:
    """One task of ours: reads a document or two, and replaces, extends, removes or creates them."""
    task = fenced_task(fence)
    store.seal(task)
    transaction = store.begin(task, base.roots, writable=BOTH)
    for path in chance.sample(paths, k=2):
        ours = f"- ours {fence}\n".encode()
        if not transaction.exists(str(path)):
            transaction.write(str(path), note(f"Ours {fence}") + ours)
        elif chance.random() < 0.2:
            transaction.remove(str(path))
        else:
            text = transaction.read(str(path))
            transaction.write(str(path), text + ours if chance.random() < 0.7 else note(f"Ours {fence}"))
    store.commit(transaction, result_of=describe)


def kept(base: MemoryBase) -> set[str]:
    """Fingerprints of all that is in the roots, in the history and among what was displaced."""
    found = list(tree(base.user, base.project, base.path / "memlane/external").values())
    for logged in show_log(base.path):
        found += logged.files.values()
    return {fingerprint(content) for content in set(found)}


def read_account(account: Path, what: str) -> set[str]:
    lines = (line.split() for line in account.read_text().splitlines())
    return {content for kind, content in lines if kind == what}


@pytest.mark.parametrize(
    "rounds",
    [
        pytest.param(40, id="short"),
        pytest.param(2_000, id="long", marks=[pytest.mark.storm, pytest.mark.timeout(1_800)]),
    ],
)
def test_no_byte_that_another_writer_wrote_is_lost(memory_base, tmp_path, rounds):
    paths = [memory_base.user / name for name in ("a.md", "b.md", "sub/c.md")]
    paths += [memory_base.project / "d.md"]
    account = tmp_path / "account"
    theirs, ours = Pipe(duplex=False)
    writer = start_child(meddle, paths, account, theirs, seed=rounds)
    theirs.close()
    chance = random.Random(rounds)

    store = open_store(memory_base.path, checkpoint=GiveTurns(ours, seed=rounds))
    for fence in range(1, rounds + 1):
        with suppress(MemlaneError):  # a conflict, or he stands in our way: the next task tries again
            change_something(memory_base, store, paths, fence, chance=chance)
    ours.close()

    assert exit_code(writer) == 0
    wrote, destroyed = read_account(account, WROTE), read_account(account, DESTROYED)
    assert wrote - destroyed - kept(memory_base) == set()
    assert wrote
