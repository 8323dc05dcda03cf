import pytest

from agent.cancellation import Cancellation
from agent.chat.session import Prompt, Session
from agent.chat.sessions import Sessions
from agent.models.offline import OfflineModel
from agent.requests import CallRefused
from core.ids import SessionId
from core.jsonrpc import Request


def session(name: str) -> Session:
    return Session(SessionId(name), cwd="/srv/ws", model=OfflineModel())


def names(sessions: Sessions) -> list[str]:
    return [one.id for one in sessions]


def test_sessions_are_listed_by_their_last_use() -> None:
    sessions = Sessions(3)
    for name in ("a", "b", "c"):
        assert sessions.add(session(name)) is None

    sessions.find("a")

    assert names(sessions) == ["a", "c", "b"]


def test_the_least_recently_used_one_makes_room() -> None:
    sessions = Sessions(2)
    sessions.add(session("a"))
    sessions.add(session("b"))
    sessions.find("a")

    evicted = sessions.add(session("c"))

    assert evicted is not None
    assert (evicted.id, names(sessions)) == ("b", ["c", "a"])


def test_one_without_a_prompt_makes_room_first() -> None:
    sessions, busy = Sessions(2), session("a")
    sessions.add(busy)
    sessions.add(session("b"))
    busy.line.put(Prompt(Request(1, "session/prompt", {}), "?", Cancellation()))

    evicted = sessions.add(session("c"))

    assert evicted is not None
    assert evicted.id == "b"


def test_a_session_that_is_not_there_is_not_found() -> None:
    sessions, closed = Sessions(2), session("a")
    sessions.add(closed)
    sessions.remove(closed)

    with pytest.raises(CallRefused) as refused:
        sessions.find("a")
    assert refused.value.error_code == -32002
