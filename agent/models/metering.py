"""What the models of a task cost, whichever of them is asked and however its run ends."""

from collections.abc import Sequence

from agent.deadline import Deadline
from agent.errors import BudgetExceeded
from agent.models.interface import Message, Model, Reply, ToolSpec
from core.acp import Usage


class Meter:
    """Counts for one task.

    Attributes:
        usage: the sum over every answer so far; a request without an answer counts nothing.
    """

    def __init__(self, *, max_tokens: int | None = None) -> None:
        """Start at nothing.

        Args:
            max_tokens: input and output tokens after which no model is asked any more.
        """
        self.usage = Usage()
        self._max_tokens = max_tokens

    def require_tokens_left(self) -> None:
        """Ask before each request.

        Raises:
            BudgetExceeded: as many tokens as may be are used.
        """
        used = self.usage.input_tokens + self.usage.output_tokens
        if self._max_tokens is not None and used >= self._max_tokens:
            raise BudgetExceeded(f"{used} tokens are used")

    def count(self, usage: Usage) -> None:
        """Add what one answer cost."""
        self.usage = Usage(
            input_tokens=self.usage.input_tokens + usage.input_tokens,
            output_tokens=self.usage.output_tokens + usage.output_tokens,
            model_calls=self.usage.model_calls + usage.model_calls,
        )


class MeteredModel:
    """A model whose answers are counted."""

    def __init__(self, model: Model, meter: Meter) -> None:
        self._model = model
        self._meter = meter

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._model.name

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        """Ask the model; raises what it raises, and BudgetExceeded in place of asking."""
        self._meter.require_tokens_left()
        reply = self._model.complete(messages, tools, deadline=deadline)
        self._meter.count(reply.usage)
        return reply
