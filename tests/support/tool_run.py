"""The tools of one headless run, on a transaction over real folders."""

from collections.abc import Callable
from dataclasses import dataclass

from agent.models.interface import ToolCall
from agent.tools import MemoryTools, ToolResult
from memory.paths import Roots
from memory.store import FencedTask
from memory.transaction import Transaction


@dataclass
class ToolRun:
    """What a run works with."""

    roots: Roots
    transaction: Transaction
    tools: MemoryTools
    task: FencedTask

    def call(self, name: str, arguments: str) -> ToolResult:
        return self.tools.call(ToolCall("1", name, arguments))


MakeToolRun = Callable[..., ToolRun]
