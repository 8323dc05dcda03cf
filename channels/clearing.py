"""Ends a session: what runs is cancelled, what waits is dropped, the next message starts anew."""

from channels.cancelling import Canceller
from channels.envelope import Envelope
from channels.sanitizing import sender_name
from channels.timers import settled_within
from channels.turn import Turn
from channels.workings import Workings
from core.logs import get_logger

WEDGED_MS = 3_000

_log = get_logger(__name__)


class Clearer:
    """Ends sessions; design page "Channel layer", 2.10."""

    def __init__(self, workings: Workings, canceller: Canceller) -> None:
        self._workings = workings
        self._canceller = canceller

    async def clear(self, envelope: Envelope) -> bool:
        """End the session of a message.

        Returns:
            False when there was none.
        """
        works = self._workings
        works.history.clear(None if works.config.session_scope == "single" else envelope.chat_id)
        session_id = works.router.find(envelope)
        if session_id is None:
            return False
        if works.is_shared(envelope):
            who = sender_name(envelope.sender_name)
            _log.info(f"shared session {session_id} cleared by {who}")
        await self.end(session_id)
        return True

    async def end(self, session_id: str) -> None:
        """End a session; afterwards nothing of it is told, delivered or run any more."""
        works = self._workings
        line = works.lines.of(session_id)
        line.generation += 1
        line.disarm()
        works.router.forget(session_id)
        works.drop_buffer(session_id)
        turn = line.active
        if turn is not None:
            self._canceller.at_once(turn, "clear")
            if not await settled_within(turn.done, WEDGED_MS, works.parts.timers):
                self.evict(turn)
        line.is_instructed = False
        await works.router.save()
        works.drop_unused_line(session_id)

    def evict(self, turn: Turn) -> None:
        """Wait no more for a turn that does not end; fine when somebody gave it up before."""
        if turn.is_evicted:
            return
        envelope = turn.envelope
        facts = {"session": turn.session_id, "chat": envelope.chat_id, "message": envelope.message_id}
        _log.warning("abandoned a wedged turn", **facts)
        turn.is_evicted = True
        self._workings.observer.ended(turn)
        line = self._workings.lines.of(turn.session_id)
        if line.active is turn:
            line.active = None
        turn.abandon()
