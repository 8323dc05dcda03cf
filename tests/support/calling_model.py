"""A model that makes given tool calls, in this process."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Event
from typing import Any

from agent.deadline import Deadline
from agent.models.interface import Message, Reply, ToolCall, ToolSpec
from core.acp import Usage


class CallingModel:
    """Makes these calls, one a turn, each not before a moment; an empty name, and the end, is only text.

    Attributes:
        asked: the messages of each request so far.
        given_ms: the time that each of them had, milliseconds.
    """

    def __init__(
        self,
        wanted: Sequence[tuple[str, Mapping[str, Any]]],
        *,
        until: Deadline | None = None,
        meanwhile: Iterable[Callable[[], object]] = (),
        text: str = "Done.",
        name: str = "calling",
        tokens: int = 0,
    ) -> None:
        """Take what to call.

        Args:
            meanwhile: what happens while each request is answered.
            tokens: what each answer costs.
        """
        self._wanted = iter(wanted)
        self._until = until
        self._meanwhile = iter(meanwhile)
        self._text = text
        self.name = name
        self._tokens = tokens
        self.asked: list[tuple[Message, ...]] = []
        self.given_ms: list[int] = []

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        """The next call."""
        wait_for(self._until)
        self.asked.append(tuple(messages))
        self.given_ms.append(deadline.remaining_ms())
        next(self._meanwhile, lambda: None)()
        made = [
            ToolCall("1", name, json.dumps(arguments))
            for name, arguments in [next(self._wanted, ("", {}))]
            if name
        ]
        return Reply(self._text, tuple(made), Usage(model_calls=1, output_tokens=self._tokens))


class FailingModel:
    """Gives no answer but this error."""

    name = "failing"

    def __init__(self, error: Exception) -> None:
        self._error = error

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        """Fail."""
        raise self._error


def wait_for(moment: Deadline | None) -> None:
    """Wait until a deadline has passed."""
    if moment is not None:
        Event().wait((moment.remaining_ms() + 5) / 1000)
