"""What the agent is told at the beginning of a session, once."""

from channels.envelope import Envelope
from channels.first_turn import boundary_note, first_turn_context
from channels.sanitizing import block_text, error_text
from channels.session_line import SessionLine
from channels.workings import Workings
from core.errors import MemlaneError
from core.logs import get_logger

_log = get_logger(__name__)


class FirstTurnContext:
    """Renders it for the turn that carries it."""

    def __init__(self, workings: Workings) -> None:
        self._config = config = workings.config
        self._memory = workings.parts.memory
        note = boundary_note(workings.identity, workings.memory_scope)
        self._note = note if config.is_labelled else None

    async def render(self, line: SessionLine, envelope: Envelope) -> str:
        """Read the memory and put all of it together; empty when nothing is to be told.

        When memory can't be read the rest is told, and all of it again before the next turn.
        """
        memory = await self._read_memory(line, envelope)
        return first_turn_context(memory=memory, instructions=self._config.instructions, note=self._note)

    async def _read_memory(self, line: SessionLine, envelope: Envelope) -> str:
        if self._memory is None or not self._may_know(envelope):
            return ""
        try:
            return block_text(await self._memory.read(envelope.target))
        except MemlaneError as error:
            reason = error_text(str(error))
            _log.warning("channel memory read failed", channel=self._config.name, reason=reason)
            line.is_instructed = False
            return ""

    def _may_know(self, envelope: Envelope) -> bool:
        """Whether the sender is known, and everybody who shares the session is."""
        is_shared = self._config.is_shared(is_group=envelope.is_group)
        is_known = envelope.sender_id in self._config.allowed_users
        return is_known and (not is_shared or self._config.sender_policy == "allowlist")
