"""The offline model: deterministic, no network, same interface and loops as any other model.

It knows what is asked of it by the tools that it is offered. Its rules are imported with the first
question: their expressions take long to compile, and with a model configured nobody needs them.
"""

from collections.abc import Callable, Sequence

from agent.deadline import Deadline
from agent.forget_prompt import SELECT_ENTRIES
from agent.models.interface import Message, Reply, ToolSpec
from agent.tools import MERGE_MEMORIES, WRITING_TOOLS


class OfflineModel:
    """Answers by rules; serves whenever no language model is configured."""

    name = "offline"

    def complete(
        self, messages: Sequence[Message], offered: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        """Decide the next step from the conversation alone.

        Raises:
            TaskTimeout: the deadline has passed.
        """
        from agent.models import chatting, dreaming, forgetting, remembering

        deadline.check()
        names = {spec.name for spec in offered}
        if SELECT_ENTRIES in names:
            return forgetting.answer(messages)
        if MERGE_MEMORIES in names:
            return dreaming.answer(messages)
        if not names.intersection(WRITING_TOOLS):
            return chatting.answer(messages)
        return remembering.answer(messages, names)

    def speak(
        self,
        messages: Sequence[Message],
        offered: Sequence[ToolSpec],
        *,
        deadline: Deadline,
        hear: Callable[[str], None],
    ) -> Reply:
        """Decide the next step, and say it line by line."""
        reply = self.complete(messages, offered, deadline=deadline)
        for line in reply.text.splitlines(keepends=True):
            hear(line)
        return reply

    def close(self) -> None:
        """Let go of nothing."""
