"""What ACP says of chat sessions, as far as channels need it: read and rendered."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationError

from core import acp, jsonrpc
from core.acp import Wire
from core.chat import AgentCommand, PermissionKind, PermissionOption, PermissionRequest, PromptImage, ToolCall
from core.text import well_formed

MAX_COMMANDS = 500
MAX_OPTIONS = 20
MAX_WORD_CHARACTERS = 128
MAX_TITLE_CHARACTERS = 1_000
MAX_IMAGE_CHARACTERS = 24 * 1024 * 1024  # of a prompt, which has to fit into one line

NOT_SHOWN = "(An image came with this. It was not shown to you: you take none, or it is too large.)"
CANCELLED: Mapping[str, Any] = {"outcome": {"outcome": "cancelled"}}
_REFERENCE_LOST = "Session not found"  # what the reference's child says; its code is that of any failure


class _Choice(Wire):
    id: str | None = None
    model_id: str | None = None


class _Modes(Wire):
    available_modes: list[_Choice] = Field(default_factory=list)


class _Models(Wire):
    available_models: list[_Choice] = Field(default_factory=list)


class Opened(Wire):
    """Answer of ``session/new`` and ``session/load``; the latter names no session."""

    session_id: str = ""
    modes: _Modes | None = None
    models: _Models | None = None

    def offers(self, what: str, value: str) -> bool:
        """Whether the session can be in a mode, or use a model."""
        if what == "mode":
            return self.modes is not None and value in {one.id for one in self.modes.available_modes}
        return self.models is not None and value in {one.model_id for one in self.models.available_models}


class Answered(Wire):
    """Answer of ``session/prompt``."""

    stop_reason: str


class _ToldCall(Wire):
    """What is told of a tool call, in an update or in a request for permission."""

    tool_call_id: str = ""
    kind: str | None = None
    title: str | None = None
    status: str | None = None

    def merged(self, known: Mapping[str, ToolCall]) -> ToolCall:
        """The tool call as it is by now: what is not told again stays.

        Args:
            known: tool calls by id, as they were told before.
        """
        call_id = _word(self.tool_call_id)
        before = known.get(call_id, ToolCall(call_id))
        return ToolCall(
            call_id,
            kind=_word(self.kind) if self.kind is not None else before.kind,
            title=_title(self.title) if self.title is not None else before.title,
            status=_word(self.status) if self.status is not None else before.status,
        )


class _Update(_ToldCall):
    session_update: str
    content: Any = None
    available_commands: list[Any] = Field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of a message chunk; empty for other content."""
        match self.content:
            case {"type": "text", "text": str(text)}:
                return well_formed(text)
        return ""


class SessionUpdate(Wire):
    """Params of ``session/update``."""

    session_id: str
    update: _Update


class _Option(Wire):
    option_id: Annotated[str, Field(max_length=MAX_WORD_CHARACTERS)]
    name: str = ""
    kind: PermissionKind


class _Asked(Wire):
    session_id: str
    tool_call: _ToldCall
    options: Annotated[list[_Option], Field(min_length=1, max_length=MAX_OPTIONS)]


def read_update(params: Any) -> SessionUpdate | None:
    """Read a notification; None for what has not its shape."""
    try:
        return SessionUpdate.model_validate(params)
    except ValidationError:
        return None


def read_commands(found: Sequence[Any]) -> tuple[AgentCommand, ...]:
    """The commands that an agent tells of, as many as are readable and bearable."""
    commands: list[AgentCommand] = []
    for one in found[:MAX_COMMANDS]:
        match one:
            case {"name": str(name)}:
                said = one.get("description")
                commands.append(AgentCommand(_word(name), _title(said if isinstance(said, str) else "")))
    return tuple(commands)


def read_permission(params: Any, known: Mapping[str, ToolCall]) -> PermissionRequest | None:
    """Read a request for permission; None for what has not its shape.

    Args:
        known: tool calls by id, as they were told before.
    """
    try:
        asked = _Asked.model_validate(params)
    except ValidationError:
        return None
    options = tuple(PermissionOption(one.option_id, _title(one.name), one.kind) for one in asked.options)
    return PermissionRequest(asked.session_id, asked.tool_call.merged(known), options)


def is_session_lost(error: jsonrpc.ErrorResponse) -> bool:
    """Whether an agent says that it has no such session, or none any more."""
    match error.data:
        case {"details": str(details)}:
            return error.error_code == acp.NOT_FOUND or details.startswith(_REFERENCE_LOST)
    return error.error_code == acp.NOT_FOUND


def chosen(option_id: str) -> Mapping[str, Any]:
    """Render the answer to a request for permission."""
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def prompt_content(text: str, images: Sequence[PromptImage], *, takes_images: bool) -> list[dict[str, str]]:
    """Render a prompt; the text says how often an image is left out.

    That happens to all where none are taken, else to those that would make the prompt too large.
    """
    shown: list[PromptImage] = []
    room = MAX_IMAGE_CHARACTERS if takes_images else 0
    for image in images:
        if len(image.data) <= room:
            room -= len(image.data)
            shown.append(image)
    said = "\n\n".join([text, *[NOT_SHOWN] * (len(images) - len(shown))])
    return [
        {"type": "text", "text": said},
        *({"type": "image", "data": image.data, "mimeType": image.mime_type} for image in shown),
    ]


def _word(text: str) -> str:
    return well_formed(text[:MAX_WORD_CHARACTERS])


def _title(text: str) -> str:
    return well_formed(text[:MAX_TITLE_CHARACTERS])
