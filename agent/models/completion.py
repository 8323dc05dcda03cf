"""A chat completion as it arrives: chunks of a stream, or one whole answer."""

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from agent.models.interface import Finish, Reply, ToolCall
from core.acp import Usage
from core.errors import DependencyError
from core.text import well_formed

MAX_REPLY_CHARACTERS = 1_000_000
MAX_TOOL_CALLS = 128
MAX_TOKENS = 2**40  # far more than any model reads; a greater count would break whoever sums them up
_FINISHES: Mapping[str, Finish] = {"length": "length", "content_filter": "refusal"}


class UnreadableReply(DependencyError):
    """What the server sent is no chat completion, or more than one may be."""

    code = "unreadable_reply"


_Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)  # offline no answer arrives


class _Function(_Part):
    name: str | None = None
    arguments: str | None = None


class _CallPart(_Part):
    index: int | None = None
    id: str | None = None
    function: _Function = _Function()


class _Content(_Part):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_CallPart] | None = None


class _Choice(_Part):
    delta: _Content | None = None
    message: _Content | None = None
    finish_reason: str | None = None


class _Usage(_Part):
    prompt_tokens: _Tokens = 0
    completion_tokens: _Tokens = 0


class _Chunk(_Part):
    choices: list[_Choice]
    usage: _Usage | None = None


class _Call:
    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []


class Completion:
    """Puts the pieces of one answer together, within bounds.

    Attributes:
        is_finished: whether the server has said that the model came to an end.
    """

    def __init__(self, hear: Callable[[str], None] | None = None) -> None:
        """Begin an answer.

        Args:
            hear: is given the text as it comes.
        """
        self.is_finished = False
        self._hear = hear
        self._finish: Finish = "stop"
        self._text: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._usage = _Usage()
        self._size_characters = 0
        self._saw_content = False

    def add(self, received: str | bytes | dict[str, Any]) -> None:
        """Add a chunk of a stream, or a whole answer; as JSON text, or parsed.

        Raises:
            UnreadableReply: it has not the shape of one, or the answer grew too long.
        """
        chunk = _parse(received)
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices[:1]:
            self.is_finished = self.is_finished or bool(choice.finish_reason)
            self._finish = _FINISHES.get(choice.finish_reason or "", self._finish)
            content = choice.delta or choice.message
            if content is not None:
                self._add_content(content)

    def reply(self) -> Reply:
        """The answer so far.

        Raises:
            UnreadableReply: there was none.
        """
        if not self._saw_content:
            raise UnreadableReply("an empty answer")
        calls = tuple(
            ToolCall(call.id or f"call-{index}", call.name, well_formed("".join(call.arguments)))
            for index, call in sorted(self._calls.items())
        )
        usage = Usage(
            input_tokens=self._usage.prompt_tokens,
            output_tokens=self._usage.completion_tokens,
            model_calls=1,
        )
        return Reply(well_formed("".join(self._text)), calls, usage, self._finish)

    def _add_content(self, content: _Content) -> None:
        self._saw_content = True
        if content.refusal:
            self._finish = "refusal"
        for text in (content.content, content.refusal):
            self._add_text(text or "")
        for part in content.tool_calls or ():
            self._add_call(part)

    def _add_text(self, text: str) -> None:
        self._count(text)
        self._text.append(text)
        if text and self._hear is not None:
            self._hear(well_formed(text))

    def _add_call(self, part: _CallPart) -> None:
        call = self._calls.setdefault(self._index_of(part), _Call())
        if len(self._calls) > MAX_TOOL_CALLS:
            raise UnreadableReply("too many tool calls")
        call.id = part.id or call.id
        call.name = part.function.name or call.name
        if part.function.arguments:
            self._count(part.function.arguments)
            call.arguments.append(part.function.arguments)

    def _index_of(self, part: _CallPart) -> int:
        """Which call a part belongs to; a part without index starts a call if it has an id."""
        if part.index is not None:
            return part.index
        last = max(self._calls, default=-1)
        return last + 1 if part.id or last < 0 else last

    def _count(self, text: str) -> None:
        self._size_characters += len(text)
        if self._size_characters > MAX_REPLY_CHARACTERS:
            raise UnreadableReply("an endless answer")


def _parse(received: str | bytes | dict[str, Any]) -> _Chunk:
    try:
        # unlike pydantic's own reader this one lets half an emoji through, as some servers cut their chunks
        parsed = received if isinstance(received, dict) else json.loads(received)
        return _Chunk.model_validate(parsed)
    except (ValueError, RecursionError):
        raise UnreadableReply("not a chat completion") from None
