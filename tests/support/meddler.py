"""Somebody else who writes the same documents, in every way that editors and tools do it.

He keeps account: which contents he wrote, and which he destroyed himself. Every other content has to be
somewhere when all is over.
"""

import hashlib
import os
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from memory.renames import Renames
from tests.support.memory import note

WROTE, DESTROYED = "wrote", "destroyed"


def fingerprint(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Meddler:
    """Makes one move at a time on a few documents.

    Args:
        account: file that gets a line for each content: ``wrote`` or ``destroyed``, and its fingerprint.
    """

    def __init__(self, paths: Sequence[Path], account: Path, *, seed: int) -> None:
        self._paths = paths
        self._account = account.open("a")
        self._random = random.Random(seed)
        self._moves = 0
        self._left_open: tuple[int, bytes] | None = None

    def move(self) -> None:
        """Finish what was begun, or make one more change in one of the ways."""
        if self._left_open is not None:
            self._finish()
            return
        ways: list[Callable[[Path], None]] = [
            self._replace,
            self._overwrite,
            self._begin_to_overwrite,
            self._append,
            self._delete,
            self._create,
        ]
        path = self._random.choice(self._paths)
        path.parent.mkdir(exist_ok=True)
        with suppress(FileNotFoundError, FileExistsError):
            self._random.choice(ways)(path)

    def close(self) -> None:
        """Finish what was begun, and the account."""
        if self._left_open is not None:
            self._finish()
        self._account.close()

    def _next(self) -> bytes:
        self._moves += 1
        return note(f"Theirs {self._moves}", body=f"\n- theirs {self._moves}\n")

    def _note(self, what: str, content: bytes) -> None:
        self._account.write(f"{what} {fingerprint(content)}\n")

    def _beside(self, path: Path) -> Path:
        return path.with_name(f"{path.name}~{self._moves}")

    def _replace(self, path: Path) -> None:
        content = self._next()
        draft = self._beside(path)
        draft.write_bytes(content)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            if not Renames().exchange(folder, draft.name, path.name, backup="unused"):
                draft.unlink()
                return
        finally:
            os.close(folder)
        self._note(WROTE, content)
        self._note(DESTROYED, draft.read_bytes())
        draft.unlink()

    def _overwrite(self, path: Path) -> None:
        self._begin_to_overwrite(path)
        self._finish()

    def _begin_to_overwrite(self, path: Path) -> None:
        opened = os.open(path, os.O_RDWR)
        self._note(DESTROYED, os.read(opened, 1 << 20))
        self._left_open = opened, self._next()

    def _finish(self) -> None:
        assert self._left_open is not None
        opened, content = self._left_open
        self._left_open = None
        os.ftruncate(opened, 0)
        os.pwrite(opened, content, 0)
        os.close(opened)
        self._note(WROTE, content)

    def _append(self, path: Path) -> None:
        opened = os.open(path, os.O_RDWR | os.O_APPEND)
        before = os.read(opened, 1 << 20)
        line = self._next()[-12:]
        os.write(opened, line)
        os.close(opened)
        self._note(DESTROYED, before)
        self._note(WROTE, before + line)

    def _delete(self, path: Path) -> None:
        self._moves += 1
        grave = self._beside(path)
        path.rename(grave)
        self._note(DESTROYED, grave.read_bytes())
        grave.unlink()

    def _create(self, path: Path) -> None:
        with path.open("xb") as made:
            content = self._next()
            made.write(content)
        self._note(WROTE, content)


def meddle(paths: Sequence[Path], account: Path, turns: Connection, *, seed: int) -> None:
    """Make a move whenever there is a turn, to the end of turns."""
    meddler = Meddler(paths, account, seed=seed)
    with suppress(EOFError):
        while True:
            turns.recv_bytes()
            meddler.move()
    meddler.close()
