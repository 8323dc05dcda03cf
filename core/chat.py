"""What a chat with an agent is made of, as the link to the agent and the channels both speak of it."""

from dataclasses import dataclass
from typing import Literal

PermissionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


@dataclass(frozen=True, slots=True)
class PromptImage:
    """An image that goes with a prompt.

    Attributes:
        data: base64.
        mime_type: such as ``image/png``.
    """

    data: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What an agent tells of a tool that it uses; what it left out is an empty text.

    Attributes:
        id: names the call within its session.
        kind: ACP's word, such as ``read`` or ``execute``.
        title: for people.
        status: ``pending``, ``in_progress``, ``completed`` or ``failed``.
    """

    id: str = ""
    kind: str = ""
    title: str = ""
    status: str = ""


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """A slash command that the agent takes in a session.

    Attributes:
        name: without its slash.
    """

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """One way to answer a request for permission."""

    id: str
    name: str
    kind: PermissionKind


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """An agent asks whether it may use a tool.

    Attributes:
        session_id: whose turn waits for the answer.
        call: the tool call.
        options: what can be answered, at least one.
    """

    session_id: str
    call: ToolCall
    options: tuple[PermissionOption, ...]
