"""A model of a session that says given things, in this process."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from agent.deadline import Deadline
from agent.models.interface import Finish, Message, Reply, ToolCall, ToolSpec
from core.acp import Usage

Step = Reply | Exception


class SpeakingModel:
    """Takes one step for each request: says a reply word by word, or fails once it has said what it may.

    Attributes:
        asked: the messages of each request so far.
        offered: names of the tools of the last one.
        is_closed: whether it was let go of.
    """

    name = "speaking"

    def __init__(self, *steps: Step) -> None:
        self._steps = iter(steps)
        self.asked: list[tuple[Message, ...]] = []
        self.offered: list[str] = []
        self.is_closed = False

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        """The next step, said to nobody."""
        return self.speak(messages, tools, deadline=deadline, hear=lambda _: None)

    def speak(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        deadline: Deadline,
        hear: Callable[[str], None],
    ) -> Reply:
        """The next step."""
        deadline.check()
        self.asked.append(tuple(messages))
        self.offered = [tool.name for tool in tools]
        step = next(self._steps)
        if isinstance(step, Exception):
            hear("Well")
            raise step
        for word in step.text.split(" "):
            hear(word)
        return step

    def close(self) -> None:
        """Note that it is let go of."""
        self.is_closed = True


def said(text: str, *wanted: tuple[str, dict[str, Any]], finish: Finish = "stop") -> Reply:
    """A reply with these tool calls."""
    made = tuple(
        ToolCall(str(number), name, json.dumps(arguments)) for number, (name, arguments) in enumerate(wanted)
    )
    return Reply(text, made, Usage(model_calls=1, output_tokens=10), finish)
