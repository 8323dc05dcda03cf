"""How a prompt is answered: a model with the reading tools on memory as it is now."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agent.briefing import folders_of, read_index
from agent.budget import earliest, turns_within
from agent.chat import updates
from agent.chat.prompt import chat_system
from agent.chat.session import Prompt, Session
from agent.deadline import Deadline
from agent.errors import BudgetExceeded, TaskCancelled
from agent.headless import HeadlessAgent, HeadlessRun, run_headless
from agent.models.interface import Message, Reply, ToolCall, ToolSpec
from agent.models.metering import Meter, MeteredModel
from agent.tools import READING_TOOLS, MemoryTools, ToolResult
from agent.watch import Watch
from core.acp import AGENT_TIMEOUT_MS, Usage
from core.ids import LaneId, TaskId
from core.policies import Policy
from memory.errors import DocumentMissing
from memory.paths import SCOPES, locate_roots
from memory.standing import REVIEW_FIELD, waits_for_review
from memory.store import FencedTask
from memory.transaction import MAX_READ_BYTES, Transaction

AGENT_NAME = "managed-auto-memory-chat"
MAX_TURNS = 8

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
Update = dict[str, Any]

_STOPS: dict[str, StopReason] = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}


@dataclass(frozen=True, slots=True)
class Answer:
    """How answering a prompt ended; its words have been told by then."""

    stop_reason: StopReason
    usage: Usage


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """Whose memory is read, and by which rules.

    Attributes:
        workspace: canonical absolute path.
        local: whether project memory lies inside the workspace.
    """

    base: Path
    workspace: str
    policy: Policy
    local: bool = False


def answer_prompt(
    prompt: Prompt, session: Session, place: MemoryPlace, *, tell: Callable[[Update], None]
) -> Answer:
    """Answer a prompt, and keep it in the session unless the model declined.

    Args:
        tell: is given every update while it goes on.

    Raises:
        ModelRejected, ModelUnavailable, TaskTimeout: the model gave no answer.
        StoreUnusable: memory is not there. After any of these the session is as before.
    """
    meter = Meter(max_tokens=place.policy.max_tokens)
    speech = _Speech(session, tell)
    try:
        run = _run(prompt, session, place, model=MeteredModel(speech, meter), watch=speech)
        stop_reason = _stop_reason(run)
    except TaskCancelled:
        stop_reason = "cancelled"
    except BudgetExceeded:
        stop_reason = "max_tokens"
    if stop_reason != "refusal":
        session.remember(asked=prompt.text, answered=speech.text)
    return Answer(stop_reason, meter.usage)


def _run(
    prompt: Prompt, session: Session, place: MemoryPlace, *, model: MeteredModel, watch: Watch
) -> HeadlessRun:
    policy = place.policy
    deadline = earliest(Deadline.after(AGENT_TIMEOUT_MS, cancellation=prompt.cancellation), policy)
    transaction = _open(place)
    folders = folders_of(transaction)
    agent = HeadlessAgent(
        name=AGENT_NAME,
        system=chat_system(folders, {scope: read_index(transaction, scope) for scope in folders}),
        order=prompt.text,
        max_turns=turns_within(policy, MAX_TURNS),
        ends_with_save=False,
        earlier=tuple(session.history()),
    )
    tools = MemoryTools(transaction, deadline=deadline, allowed=READING_TOOLS)
    return run_headless(agent, model=model, tools=tools, deadline=deadline, watch=watch)


class _ApprovedMemory(Transaction):
    """Memory without the documents that wait for a review, as every index and search is without them."""

    def read(self, path: str, *, max_bytes: int = MAX_READ_BYTES) -> bytes:
        """Read a file; one that waits for a review counts as missing."""
        content = super().read(path, max_bytes=max_bytes)
        if REVIEW_FIELD.encode() in content and waits_for_review(content):
            raise DocumentMissing("it waits for a review")
        return content


def _open(place: MemoryPlace) -> Transaction:
    """Memory to look at: no tool stages anything here, and it is no task of the store's to commit."""
    roots = locate_roots(place.base, place.workspace, local=place.local)
    reader = FencedTask(TaskId("chat"), LaneId("chat"), 1, "chat")
    return _ApprovedMemory(reader, roots, writable=frozenset(SCOPES))


def _stop_reason(run: HeadlessRun) -> StopReason:
    return _STOPS[run.finish] if run.ending == "answered" else "max_turn_requests"


class _Speech(Watch):
    """The session's model, of which every word and every tool call is told."""

    def __init__(self, session: Session, tell: Callable[[Update], None]) -> None:
        self._session = session
        self._tell = tell
        self._said: list[str] = []
        self._begins = False

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._session.model.name

    @property
    def text(self) -> str:
        """Everything that was said."""
        return "".join(self._said)

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, deadline: Deadline
    ) -> Reply:
        """Ask the model; what it says in another turn than before is a paragraph of its own."""
        self._begins = bool(self._said)
        return self._session.model.speak(messages, tools, deadline=deadline, hear=self._hear)

    def tool_began(self, call: ToolCall) -> None:
        """Tell of a tool."""
        self._tell(updates.tool_call(self._session.next_call_id(), call))

    def tool_ended(self, call: ToolCall, result: ToolResult) -> None:  # noqa: ARG002 - tools run one by one
        """Tell what came of it."""
        self._tell(updates.tool_call_update(self._session.last_call_id, result))

    def _hear(self, piece: str) -> None:
        piece = f"\n\n{piece}" if self._begins else piece
        self._begins = False
        self._said.append(piece)
        self._tell(updates.message_chunk(piece))
