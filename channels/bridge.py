"""What a channel needs of the link to its agent; any ACP agent will do."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from core.chat import AgentCommand, PermissionRequest, PromptImage, ToolCall

PermissionDecider = Callable[[PermissionRequest], Awaitable[str | None]]
"""Chooses an option's id; None means that nobody decided."""


class BridgeListener(Protocol):
    """Hears what the agent does by itself, in the order in which it came; nothing here may block."""

    def text_chunk(self, session_id: str, chunk: str) -> None:
        """The agent wrote a piece of its answer."""
        ...

    def tool_call(self, session_id: str, call: ToolCall) -> None:
        """The agent uses a tool, or tells more of a use."""
        ...

    def session_died(self, session_id: str) -> None:
        """The session is no more; a prompt that runs in it will raise."""
        ...


class AgentBridge(Protocol):
    """Sessions of an agent. For one event loop."""

    async def new_session(self, cwd: str, *, mode: str | None = None, model: str | None = None) -> str:
        """Open a session and return its id.

        Args:
            mode, model: the agent's words; one that it does not offer is passed over.

        Raises:
            DependencyError: the agent opened none.
        """
        ...

    async def load_session(self, session_id: str, *, cwd: str) -> str:
        """Go on with a session of before and return its id, which may be another one.

        Raises:
            DependencyError: the agent has it no more.
        """
        ...

    async def prompt(self, session_id: str, text: str, *, images: Sequence[PromptImage] = ()) -> str:
        """Have the agent answer; returns the whole text, which listeners got in pieces meanwhile.

        A prompt that was cancelled returns what there was by then.

        Raises:
            DependencyError: the agent failed or died.
        """
        ...

    async def cancel_session(self, session_id: str) -> None:
        """Call off the prompt that runs in a session; returns once the agent has been told.

        Raises:
            DependencyError: it could not be told.
        """
        ...

    def subscribe(self, listener: BridgeListener) -> Callable[[], None]:
        """Have a listener hear of all sessions; returns what ends that."""
        ...

    def decide_permissions_by(self, decide: PermissionDecider) -> None:
        """Have this asked whenever the agent wants permission; before that every request is denied."""
        ...

    def commands(self, session_id: str | None = None) -> Sequence[AgentCommand]:
        """Slash commands of a session; without one those that were told last. Never waits."""
        ...
