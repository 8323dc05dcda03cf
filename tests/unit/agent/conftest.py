"""A real store with two empty roots, and tools on a transaction of it."""

from pathlib import Path

import pytest

from agent.deadline import Deadline
from agent.tools import ALL_TOOLS, Judge, MemoryTools
from core.acp import Scope
from core.ids import LaneId, new_task_id
from memory.paths import Roots, find_roots
from memory.store import FencedTask, open_store
from memory.transaction import MAX_FILES
from tests.support.task_memory import TaskMemory
from tests.support.tool_run import MakeToolRun, ToolRun


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    base, workspace = tmp_path / "base", tmp_path / "workspace"
    base.mkdir()
    workspace.mkdir()
    return find_roots(base, str(workspace))


@pytest.fixture
def memory(tmp_path: Path) -> TaskMemory:
    return TaskMemory(tmp_path)


@pytest.fixture
def make_tool_run(tmp_path: Path, roots: Roots) -> MakeToolRun:
    def make(
        *,
        writable: tuple[Scope, ...] = ("user", "project"),
        allowed: tuple[str, ...] = ALL_TOOLS,
        max_new: int = MAX_FILES,
        judge: Judge | None = None,
    ) -> ToolRun:
        task = FencedTask(new_task_id("remember"), LaneId("test/lane"), 1, "remember", client="web:1")
        store = open_store(tmp_path / "base")
        store.seal(task)
        transaction = store.begin(task, roots, writable=frozenset(writable))
        tools = MemoryTools(
            transaction, deadline=Deadline.after(60_000), allowed=allowed, max_new=max_new, judge=judge
        )
        return ToolRun(roots, transaction, tools, task)

    return make


@pytest.fixture
def tool_run(make_tool_run: MakeToolRun) -> ToolRun:
    return make_tool_run()
