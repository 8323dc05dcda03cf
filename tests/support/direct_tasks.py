"""Tasks whose agent writes to the roots by itself, on a real store in this process."""

from pathlib import Path
from typing import Any

from memory.direct_tasks import DirectTasks
from memory.journal import FencedTask
from memory.planning import Commit
from memory.store import Store, open_store
from tests.support.memory import LANE, MemoryBase, describe, fenced_task

Edits = dict[Path, bytes | None]


class Lane:
    """A lane whose tasks are direct ones.

    Attributes:
        fence: of the task that began last.
    """

    def __init__(self, base: MemoryBase, *, store: Store | None = None, lane: str = LANE) -> None:
        self.base = base
        self.lane = lane
        self.store = store or open_store(base.path)
        self.tasks = DirectTasks(self.store)
        self.fence = 0

    def begin(self) -> FencedTask:
        self.fence += 1
        task = fenced_task(self.fence, lane=self.lane)
        assert self.tasks.begin(task, self.base.roots) is None
        return task

    def record(self, task: FencedTask) -> dict[str, Any]:
        return self.tasks.record(task, self.base.roots, result_of=told)

    def close(self, task: FencedTask) -> Commit | None:
        return self.tasks.close(task, self.base.roots)

    def undo(self, name: str) -> None:
        self.fence += 1
        task = fenced_task(self.fence, kind="undo", lane=self.lane)
        self.store.seal(task)
        self.store.undo(task, name, self.base.roots, result_of=describe)


def told(commit: Commit) -> dict[str, Any]:
    return describe(commit) | {"summary": "Saved it."}


def write(edits: Edits) -> None:
    """Do as an agent does that writes by itself."""
    for path, content in edits.items():
        if content is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
