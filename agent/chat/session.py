"""One conversation: what was asked and answered, within bounds."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from agent.call_line import CallLine
from agent.cancellation import Cancellation
from agent.models.interface import ChatModel, Message
from core.clock import wall_ms
from core.ids import SessionId
from core.jsonrpc import Request

MAX_WAITING_PROMPTS = 4
MAX_EXCHANGES = 50
MAX_HISTORY_CHARACTERS = 100_000
MAX_KEPT_CHARACTERS = 20_000  # of one question or one answer
MAX_TITLE_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question that waits for its turn.

    Attributes:
        text: what is asked, rendered of the prompt's blocks.
    """

    request: Request
    text: str
    cancellation: Cancellation


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and what was answered; what tools showed meanwhile is not kept, since memory changes."""

    asked: str
    answered: str

    @property
    def size_characters(self) -> int:
        """Characters of both."""
        return len(self.asked) + len(self.answered)


class Session:
    """What a session knows; one thread answers its prompts, one after the other.

    Attributes:
        cwd: its working directory, as the client wrote it.
        line: prompts that wait.
        model: asked by the session's thread alone.
        title: the beginning of the first question, None before it.
        updated_ms: when it was last used, epoch milliseconds.
    """

    def __init__(self, session_id: SessionId, *, cwd: str, model: ChatModel) -> None:
        self.id = session_id
        self.cwd = cwd
        self.model = model
        self.line: CallLine[Prompt] = CallLine(MAX_WAITING_PROMPTS)
        self.title: str | None = None
        self.updated_ms = wall_ms()
        self._exchanges: deque[Exchange] = deque(maxlen=MAX_EXCHANGES)
        self._calls = 0

    def touch(self, asked: str) -> None:
        """Note that something is asked."""
        self.updated_ms = wall_ms()
        self.title = self.title or " ".join(asked.split())[:MAX_TITLE_CHARACTERS]

    def remember(self, *, asked: str, answered: str) -> None:
        """Keep an exchange for the next prompts; the oldest ones go when there are too many."""
        self._exchanges.append(Exchange(asked[:MAX_KEPT_CHARACTERS], answered[:MAX_KEPT_CHARACTERS]))
        while sum(one.size_characters for one in self._exchanges) > MAX_HISTORY_CHARACTERS:
            self._exchanges.popleft()

    def history(self) -> Iterator[Message]:
        """What was said so far, the oldest first."""
        for exchange in tuple(self._exchanges):
            yield Message("user", exchange.asked)
            if exchange.answered:  # else it was called off before a word
                yield Message("assistant", exchange.answered)

    def next_call_id(self) -> str:
        """Name the tool call that begins; a model's own names repeat from turn to turn."""
        self._calls += 1
        return self.last_call_id

    @property
    def last_call_id(self) -> str:
        """The name given last."""
        return f"call-{self._calls}"
