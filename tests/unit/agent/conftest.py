"""A real store with two empty roots, and tools on a transaction of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.deadline import Deadline
from agent.models.interface import ToolCall
from agent.tools import ALL_TOOLS, MemoryTools, ToolResult
from core.acp import Scope
from core.ids import LaneId, new_task_id
from memory.paths import Roots, find_roots
from memory.store import TaskRun, open_store
from memory.transaction import Transaction


@dataclass
class Desk:
    """Tools on a transaction over real folders."""

    roots: Roots
    transaction: Transaction
    tools: MemoryTools
    run: TaskRun

    def call(self, name: str, arguments: str) -> ToolResult:
        return self.tools.call(ToolCall("1", name, arguments))


MakeDesk = Callable[..., Desk]


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    base, workspace = tmp_path / "base", tmp_path / "workspace"
    base.mkdir()
    workspace.mkdir()
    return find_roots(base, str(workspace))


@pytest.fixture
def make_desk(tmp_path: Path, roots: Roots) -> MakeDesk:
    def make(
        *, writable: tuple[Scope, ...] = ("user", "project"), allowed: tuple[str, ...] = ALL_TOOLS
    ) -> Desk:
        run = TaskRun(new_task_id("remember"), LaneId("test/lane"), 1, "remember", client="web:1")
        store = open_store(tmp_path / "base")
        store.seal(run)
        transaction = store.begin(run, roots, writable=frozenset(writable))
        tools = MemoryTools(transaction, deadline=Deadline.after(60_000), allowed=allowed)
        return Desk(roots, transaction, tools, run)

    return make


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk()
