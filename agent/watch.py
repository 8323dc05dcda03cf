"""What can be seen of an agent's run while it goes on."""

from agent.models.interface import ToolCall
from agent.tools import ToolResult


class Watch:
    """Sees each step from the thread of the run, and does nothing about it; those that do derive from it."""

    def turn_began(self, number: int, *, of: int) -> None:
        """The model is asked.

        Args:
            number: of the turn, from 1.
            of: turns that there may be.
        """

    def tool_began(self, call: ToolCall) -> None:
        """A tool call is about to run."""

    def tool_ended(self, call: ToolCall, result: ToolResult) -> None:
        """It ran, or was refused."""
