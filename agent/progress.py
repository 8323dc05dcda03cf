"""How far a task is, told while it runs."""

from collections.abc import Callable

from agent.models.interface import ToolCall
from agent.tools import ALL_TOOLS, MERGE_MEMORIES, ToolResult
from agent.watch import Watch
from core.acp import Progress
from core.clock import boot_ms
from memory.transaction import Transaction

MIN_INTERVAL_MS = 200  # between two that only tell of a tool; each turn is told
_TOOLS = frozenset({*ALL_TOOLS, MERGE_MEMORIES})

Tell = Callable[[Progress], None]


class ProgressWatch(Watch):
    """Tells of each turn, and of tools at most five times a second; what is left out, the next one says."""

    def __init__(self, transaction: Transaction, tell: Tell, *, now_ms: Callable[[], int] = boot_ms) -> None:
        self._transaction = transaction
        self._tell = tell
        self._now_ms = now_ms
        self._told_ms = 0
        self._turn = 0
        self._max_turns = 0
        self._last_tool: str | None = None

    def turn_began(self, number: int, *, of: int) -> None:
        """Tell of a turn."""
        self._turn, self._max_turns = number, of
        self._tell_now()

    def tool_ended(self, call: ToolCall, result: ToolResult) -> None:  # noqa: ARG002 - it ran, whatever came of it
        """Tell of a tool, unless something was told just now."""
        if call.name in _TOOLS:  # a model may call anything by any name
            self._last_tool = call.name
        if self._now_ms() - self._told_ms >= MIN_INTERVAL_MS:
            self._tell_now()

    def _tell_now(self) -> None:
        self._told_ms = self._now_ms()
        progress = Progress(
            task_id=self._transaction.task.id,
            turn=self._turn,
            max_turns=self._max_turns,
            last_tool=self._last_tool,
            files_touched=len(self._transaction.changes),
        )
        self._tell(progress)
