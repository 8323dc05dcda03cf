"""What the agent loop needs of a language model, whichever it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agent.deadline import Deadline
from core.acp import Usage


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants to be run.

    Attributes:
        arguments: JSON text as the model wrote it; it may not parse.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a run's history.

    Attributes:
        tool_calls: what an assistant message asked for.
        tool_call_id: which call a tool message answers.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it.

    Attributes:
        parameters: JSON schema of its arguments, an object.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


Finish = Literal["stop", "length", "refusal"]


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's next message.

    Attributes:
        finish: why it ends here: the model was done, had no room for more, or declined to go on.
    """

    text: str
    tool_calls: tuple[ToolCall, ...]
    usage: Usage
    finish: Finish = "stop"


class Model(Protocol):
    """Something that continues a conversation; used by one thread."""

    @property
    def name(self) -> str:
        """What to call it in capabilities and logs."""
        ...

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        """Ask for the next message.

        Raises:
            ModelRejected: the server refuses this request for good.
            ModelUnavailable: no usable answer after the retries that make sense.
            TaskTimeout: the deadline passed before the answer was complete.
            TaskCancelled: the call was called off before that.
        """
        ...


class ChatModel(Model, Protocol):
    """A model whose words can be heard while it speaks."""

    def speak(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        deadline: Deadline,
        hear: Callable[[str], None],
    ) -> Reply:
        """Ask for the next message, as ``complete`` does.

        An answer of which something was heard is not asked for again when it breaks off.

        Args:
            hear: is given the text piece by piece, from the thread that asked.

        Raises:
            TaskCancelled, ModelRejected, ModelUnavailable, TaskTimeout: as for ``complete``.
        """
        ...

    def close(self) -> None:
        """Let go of connections; the model is not used any more."""
        ...
