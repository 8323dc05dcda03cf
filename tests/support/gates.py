"""The test's side of the gated agent: set a gate, see who waits there, open it."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.support.waiting import until

AGENT_STOPS_WITHIN_S = 60.0

Step = Literal["started", "sealed", "staged", "committed", "refused"]

_SCRIPT = Path(__file__).with_name("gated_agent.py")


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate; it stops one child, the first that comes.

    Attributes:
        inode: of the gate's file, which keeps it when a child takes it.
    """

    file: Path
    inode: int

    def wait_taken(self, *, limit_s: float = AGENT_STOPS_WITHIN_S) -> int:
        """Wait until a child waits here; its process id."""
        until(self._held, limit_s=limit_s)
        return int(self._held()[0].name.split("-")[1])

    def open(self) -> None:
        """Let it go on."""
        for held in self._held():
            held.unlink()

    def _held(self) -> list[Path]:
        held = self.file.parent.glob(f"held-*-{self.file.name}")
        return [file for file in held if file.stat().st_ino == self.inode]


class Gates:
    """All gates of a test."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder

    @property
    def agent_command(self) -> str:
        """Value of MEMLANE_AGENT_COMMAND that starts gated agents."""
        return shlex.join([sys.executable, "-P", str(_SCRIPT), str(self._folder)])

    def set(self, step: Step, workspace: str) -> Gate:
        """Set a gate at a step of the next child of a workspace that comes there."""
        file = self._folder / f"{step}-{workspace}"
        draft = self._folder / f"draft-{file.name}"
        draft.touch()
        inode = draft.stat().st_ino
        draft.rename(file)
        return Gate(file, inode)

    def open_all(self) -> None:
        """Let everybody go on, now and later."""
        for file in self._folder.iterdir():
            file.unlink()
