"""Runs one turn: context, prompt, delivery, and exactly one end."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from channels.cancelling import Canceller
from channels.context import FirstTurnContext
from channels.envelope import Envelope
from channels.errors import TurnCalledOff
from channels.observing import Observer
from channels.sanitizing import sender_name
from channels.session_line import SessionLine
from channels.turn import Said, Turn
from channels.turn_output import TurnOutput
from channels.workings import Workings
from core.chat import ToolCall
from core.ids import new_uuid
from core.logs import get_logger

if TYPE_CHECKING:
    from channels.lifecycle import FailurePhase

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class QueuedTurn:
    """A message that waits for its turn.

    Attributes:
        said: as it will be prompted, without context.
        generation: of the session when it was queued; another one means that it is not wanted any more.
        is_command: whether it has to reach the agent as it is, without what was said before in its group.
    """

    envelope: Envelope
    said: Said
    generation: int
    is_command: bool = False


class TurnRunner:
    """Runs turns of all sessions; each in its own task."""

    def __init__(
        self,
        workings: Workings,
        canceller: Canceller,
        *,
        on_end: Callable[[SessionLine], None],
        re_route: Callable[[Envelope], Awaitable[None]],
    ) -> None:
        """Bind the parts.

        Args:
            on_end: is told when a session's active turn has gone.
            re_route: has a message answered whose session was given up before its turn.
        """
        self._workings = workings
        self._canceller = canceller
        self._context = FirstTurnContext(workings)
        self.output = TurnOutput(workings)
        self._on_end = on_end
        self._re_route = re_route

    async def run(self, line: SessionLine, queued: QueuedTurn) -> None:
        """Run a turn to its end; it is the session's active one meanwhile.

        Raises:
            TurnCalledOff: prompt or delivery raised after the turn was cancelled.
            Exception: what prompt or delivery raised, after it was told as the turn's failure.
        """
        line.disarm()
        if await self._belongs_elsewhere(line, queued):
            return
        claims = not line.is_instructed
        line.is_instructed = True
        context = await self._context.render(line, queued.envelope) if claims else ""
        if await self._belongs_elsewhere(line, queued):
            return
        history = "" if queued.is_command else self._workings.history.take(queued.envelope)
        said = Said(_joined(history, queued.said.text), queued.said.images)
        turn = Turn(new_uuid(), line.session_id, queued.envelope, generation=queued.generation, said=said)
        line.active = turn
        try:
            await self._prompted(turn, context)
        except asyncio.CancelledError:  # the process ends: what waits is for the next one
            self._clean_up(line, turn)
            raise
        except Exception:
            self._conclude(line, turn, claims_context=claims)
            raise
        self._conclude(line, turn, claims_context=claims)

    async def _belongs_elsewhere(self, line: SessionLine, queued: QueuedTurn) -> bool:
        """Whether the turn is not to run here: it is dropped, or has run where its session went."""
        envelope = queued.envelope
        if queued.generation != line.generation:
            who = sender_name(envelope.sender_name)
            _log.info(f"dropped queued turn from {who}", session=line.session_id)
            self._workings.settler.settle_soon(envelope.receipts, "dropped")
            return True
        if line.is_retired:
            await self._re_route(envelope)
            return True
        return False

    async def _prompted(self, turn: Turn, context: str) -> None:
        works, text = self._workings, _joined(context, turn.said.text)
        self._canceller.give_time(turn, works.parts.turn_limit_ms)
        works.observer.started(turn)
        turn.streamer = self.output.streamer(turn)
        bridge = turn.bridge = works.bridge()
        stop_listening = bridge.subscribe(_ChunkListener(turn, works.observer))
        try:
            await works.parts.ledger.begin(turn.record)
            answer = await self._answer(
                turn, lambda: bridge.prompt(turn.session_id, text, images=turn.said.images)
            )
            await self._settle(turn)
            await self.output.deliver(turn, answer)
            if not turn.is_delivering:
                await self._settle(turn)
        except Exception as error:
            await self._fail(turn, error)
            raise
        else:
            await self._complete(turn)
        finally:
            stop_listening()
            turn.disarm()

    @staticmethod
    async def _answer(turn: Turn, ask: Callable[[], Coroutine[Any, Any, str]]) -> str:
        """The agent's answer; empty for a turn for which nobody waits any more."""
        if turn.is_cancelled:
            return ""
        turn.has_asked = True
        prompt = asyncio.create_task(ask())
        wanted: set[asyncio.Future[Any]] = {prompt, turn.abandoned}
        try:
            await asyncio.wait(wanted, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            prompt.cancel()
            raise
        if not prompt.done():
            prompt.add_done_callback(lambda done: done.cancelled() or done.exception())
            return ""
        answer = prompt.result()
        turn.has_accepted = True
        return answer

    async def _settle(self, turn: Turn) -> None:
        """Have it decided whether the turn is cancelled, and tell what was held if it is not."""
        await self._canceller.settle(turn)
        turn.cancel_pending = False
        if not turn.is_cancelled:
            self._workings.observer.release_held(turn)

    async def _complete(self, turn: Turn) -> None:
        turn.has_ended = True
        if turn.is_cancelled:
            await self._workings.settler.end(turn, "cancelled", reason=turn.cancel_reason)
            return
        await self._workings.settler.end(turn, "completed")
        self._workings.observer.completed(turn)

    async def _fail(self, turn: Turn, error: Exception) -> None:
        works = self._workings
        if not turn.is_delivering:
            await self._settle(turn)
        turn.has_ended = True
        if turn.is_cancelled:
            message_id = turn.envelope.message_id
            _log.info(f"turn {message_id} threw after cancellation for session {turn.session_id}")
            await works.settler.end(turn, "cancelled", reason=turn.cancel_reason)
            raise TurnCalledOff(str(error)) from error
        phase: FailurePhase = "delivery" if turn.is_delivering else "agent"
        await works.settler.end(turn, "failed", reason=phase)
        works.observer.failed(turn, str(error), phase)

    def _conclude(self, line: SessionLine, turn: Turn, *, claims_context: bool) -> None:
        if claims_context and not turn.has_accepted:
            line.is_instructed = False
        self._clean_up(line, turn)
        self._on_end(line)

    def _clean_up(self, line: SessionLine, turn: Turn) -> None:
        turn.has_ended = True
        if turn.streamer is not None:
            turn.streamer.stop()
        if not turn.is_evicted:
            self._workings.observer.ended(turn)
        if line.active is turn:
            line.active = None
        if not turn.done.done():
            turn.done.set_result(None)


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


class _ChunkListener:
    """Hears what the agent writes in one turn."""

    def __init__(self, turn: Turn, observer: Observer) -> None:
        self._turn = turn
        self._observer = observer

    def text_chunk(self, session_id: str, chunk: str) -> None:
        if session_id == self._turn.session_id:
            self._turn.has_accepted = True
            self._observer.take_chunk(self._turn, chunk)

    def tool_call(self, session_id: str, _call: ToolCall) -> None:
        if session_id == self._turn.session_id:
            self._turn.has_accepted = True

    def session_died(self, _session_id: str) -> None:
        """The prompt raises by itself."""
