"""The agent loop: a model, its tools, a history of its own; what becomes a chat, sessions keep themselves."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent.deadline import Deadline
from agent.models.interface import Finish, Message, Model, Reply, ToolCall
from agent.tools import CHANGING_TOOLS, MemoryTools, ToolResult
from agent.watch import Watch
from core.logs import get_logger

MAX_CALLS_PER_TURN = 16
MAX_IDENTICAL_CALLS = 3
MAX_IDLE_TURNS = 3

Ending = Literal["saved", "answered", "turns", "stuck"]

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HeadlessAgent:
    """What a run is told and how long it may go on.

    Attributes:
        order: the user message.
        earlier: what was said before it.
        max_turns: model calls at most.
        max_calls: tool calls that run in one turn.
        ends_with_save: whether the first turn after which everything is saved ends the run; else only
            the model does.
    """

    name: str
    system: str
    order: str
    max_turns: int
    max_calls: int = MAX_CALLS_PER_TURN
    ends_with_save: bool = True
    earlier: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call of a run, without its arguments."""

    tool: str
    ok: bool


@dataclass(frozen=True, slots=True)
class HeadlessRun:
    """How a run went.

    Attributes:
        ending: ``saved``: what was written may be committed, and the model has heard of each write that
            was refused; ``answered``: the model made no further tool call; ``turns``: out of turns;
            ``stuck``: it repeated itself or found out nothing new. Each of these without a valid write,
            unless the agent doesn't end with one.
        text: what the model said in its last turn.
        finish: why its last turn ended.
    """

    ending: Ending
    text: str
    tool_log: tuple[ToolUse, ...]
    finish: Finish = "stop"


def run_headless(
    agent: HeadlessAgent,
    *,
    model: Model,
    tools: MemoryTools,
    deadline: Deadline,
    watch: Watch | None = None,
) -> HeadlessRun:
    """Let the model work with the tools until it has saved something or the run is over.

    Args:
        watch: sees each step.

    Raises:
        TaskTimeout: the deadline passed.
        TaskCancelled: the call was called off.
        PathEscape, ScopeMismatch: a write out of bounds.
        ModelRejected, ModelUnavailable: the model gave no answer.
    """
    run = _Loop(agent, model=model, tools=tools, deadline=deadline, watch=watch or Watch()).run()
    counts = Counter(f"{use.tool}.{'ok' if use.ok else 'failed'}" for use in run.tool_log)
    _log.debug("headless_run_ended", agent=agent.name, ending=run.ending, tools=dict(counts))
    return run


class _Loop:
    def __init__(
        self, agent: HeadlessAgent, *, model: Model, tools: MemoryTools, deadline: Deadline, watch: Watch
    ) -> None:
        self._agent = agent
        self._model = model
        self._tools = tools
        self._deadline = deadline
        self._watch = watch
        self._history = [Message("system", agent.system), *agent.earlier, Message("user", agent.order)]
        self._finish: Finish = "stop"
        self._tool_log: list[ToolUse] = []
        self._patience = _Patience()
        self._wrote_all = True  # in the last turn that wrote; else the model has to hear what came to nothing

    def run(self) -> HeadlessRun:
        for number in range(1, self._agent.max_turns + 1):
            self._watch.turn_began(number, of=self._agent.max_turns)
            reply = self._ask()
            if not reply.tool_calls:
                return self._ended("answered", reply.text)
            self._run_tools(reply.tool_calls)
            if self._agent.ends_with_save and self._wrote_all and self._tools.saved:
                return self._ended("saved", reply.text)
            if self._patience.exhausted:
                return self._ended("stuck", reply.text)
        return self._ended("turns", "")

    def _ask(self) -> Reply:
        self._deadline.check()
        reply = self._model.complete(tuple(self._history), self._tools.specs, deadline=self._deadline)
        self._history.append(Message("assistant", reply.text, tool_calls=reply.tool_calls))
        self._finish = reply.finish
        return reply

    def _run_tools(self, calls: Sequence[ToolCall]) -> None:
        writes = []
        for number, call in enumerate(calls):
            self._deadline.check()
            self._watch.tool_began(call)
            result = self._run_tool(call, number)
            self._watch.tool_ended(call, result)
            self._history.append(Message("tool", result.text, tool_call_id=call.id))
            if call.name in CHANGING_TOOLS:
                writes.append(result.ok)
        self._wrote_all = all(writes) if writes else self._wrote_all
        self._patience.end_turn()

    def _run_tool(self, call: ToolCall, number: int) -> ToolResult:
        if number >= self._agent.max_calls:
            return ToolResult("Error: too many calls in one turn", ok=False)
        if not self._patience.admits(call):
            return ToolResult("Error: the same call again; the run ends", ok=False)
        result = self._tools.call(call)
        self._tool_log.append(ToolUse(call.name, result.ok))
        self._patience.note(call, ok=result.ok)
        return result

    def _ended(self, ending: Ending, text: str) -> HeadlessRun:
        if self._agent.ends_with_save and self._tools.saved:
            ending = "saved"
        return HeadlessRun(ending, text, tuple(self._tool_log), self._finish)


class _Patience:
    """Notices a model that goes round in circles."""

    def __init__(self) -> None:
        self.exhausted = False
        self._last: tuple[str, str] | None = None
        self._identical = 0
        self._fruitful: set[tuple[str, str]] = set()
        self._idle_turns = 0
        self._turn_was_fruitful = False

    def admits(self, call: ToolCall) -> bool:
        """Whether the call may run; the last of too many identical ones in a row may not."""
        signature = (call.name, call.arguments)
        self._identical = self._identical + 1 if signature == self._last else 1
        self._last = signature
        self.exhausted = self.exhausted or self._identical >= MAX_IDENTICAL_CALLS
        return not self.exhausted

    def note(self, call: ToolCall, *, ok: bool) -> None:
        """Remember a call's success; only the first success of the same call brings anything new."""
        signature = (call.name, call.arguments)
        if ok and signature not in self._fruitful:
            self._fruitful.add(signature)
            self._turn_was_fruitful = True

    def end_turn(self) -> None:
        """Count a turn that changed and found nothing."""
        self._idle_turns = 0 if self._turn_was_fruitful else self._idle_turns + 1
        self._turn_was_fruitful = False
        self.exhausted = self.exhausted or self._idle_turns >= MAX_IDLE_TURNS
