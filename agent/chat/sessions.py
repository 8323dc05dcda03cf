"""The sessions of a child, as many as may be."""

from collections import OrderedDict
from collections.abc import Iterator

from agent.chat.session import Session
from agent.requests import CallRefused
from core.acp import NOT_FOUND
from core.ids import SessionId


class Sessions:
    """Found by id, the least recently used one first to go; for one thread."""

    def __init__(self, max_sessions: int) -> None:
        self._max_sessions = max_sessions
        self._by_id: OrderedDict[SessionId, Session] = OrderedDict()

    def __iter__(self) -> Iterator[Session]:
        """The sessions, the most recently used one first."""
        return reversed(self._by_id.values())

    def add(self, session: Session) -> Session | None:
        """Keep a session; gives the one that had to make room for it, if any.

        That is the least recently used one, of those without a prompt if there is any.
        """
        evicted = self._evict() if len(self._by_id) >= self._max_sessions else None
        self._by_id[session.id] = session
        return evicted

    def find(self, session_id: str) -> Session:
        """The session, which counts as used now.

        Raises:
            CallRefused: there is none of this id, or no longer.
        """
        known = SessionId(session_id)
        if known not in self._by_id:
            raise CallRefused(NOT_FOUND, "Session not found", {"sessionId": session_id})
        self._by_id.move_to_end(known)
        return self._by_id[known]

    def remove(self, session: Session) -> None:
        """Forget a session."""
        self._by_id.pop(session.id, None)

    def _evict(self) -> Session:
        oldest = next(iter(self._by_id.values()))
        evicted = next((one for one in self._by_id.values() if not one.line.is_busy), oldest)
        self.remove(evicted)
        return evicted
