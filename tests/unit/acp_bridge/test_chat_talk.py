"""What is heard of one child's sessions, without a child."""

import asyncio
import json

import pytest

from acp_bridge.chat import talk as talk_module
from acp_bridge.chat.talk import MAX_CALLS, MAX_PERMISSIONS, MAX_TEXT_CHARACTERS, MAX_TOLD_CALLS, ChatTalk
from acp_bridge.errors import AgentDied
from core import jsonrpc

CANCELLED = {"outcome": {"outcome": "cancelled"}}


class Ear:
    def __init__(self):
        self.heard = []

    def text_chunk(self, session_id, chunk):
        self.heard.append((session_id, chunk))

    def tool_call(self, session_id, call):
        self.heard.append((session_id, call.id, call.status))

    def session_died(self, session_id):
        self.heard.append((session_id, "died"))


async def never(_request):
    await asyncio.get_running_loop().create_future()


async def yes(_request):
    return "yes"


def scene(decide=yes):
    """A talk with an open session ``s`` in which a prompt runs, and who listens."""
    ear = Ear()
    talk = ChatTalk(lambda: [ear], decide)
    session = talk.open("s")
    session.begin(asyncio.get_running_loop().create_future())
    return talk, session, ear


def tell(talk, what, *, session="s", **fields):
    params = {"sessionId": session, "update": {"sessionUpdate": what} | fields}
    assert talk.hear(jsonrpc.Notification("session/update", params))


def say(talk, text, *, session="s"):
    tell(talk, "agent_message_chunk", session=session, content={"type": "text", "text": text})


def ask(talk, replies, *, number=1):
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    params = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": options}
    request = jsonrpc.Request(number, "session/request_permission", params)
    assert talk.asked(request, lambda frame: replies.append(json.loads(frame)["result"]))


async def turns_of_the_loop():
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_question_that_is_called_off_before_it_was_put_is_answered_all_the_same():
    talk, session, _ = scene()
    replies: list[object] = []
    ask(talk, replies)
    session.call_off()
    await turns_of_the_loop()

    assert replies == [CANCELLED]


async def test_a_question_after_the_answer_is_denied():
    talk, session, _ = scene()
    replies: list[object] = []
    session.answer.set_result(None)
    ask(talk, replies)

    assert replies == [CANCELLED]


async def test_so_many_questions_at_a_time_and_no_more():
    talk, session, _ = scene(never)
    replies: list[object] = []
    for number in range(MAX_PERMISSIONS + 1):
        ask(talk, replies, number=number)

    assert replies == [CANCELLED]
    session.call_off()
    await turns_of_the_loop()
    assert replies == [CANCELLED] * (MAX_PERMISSIONS + 1)


async def test_text_is_cut_where_it_becomes_too_long():
    talk, session, ear = scene()
    say(talk, "x" * (MAX_TEXT_CHARACTERS - 1))
    say(talk, "abc")
    say(talk, "def")

    assert "".join(session.written).endswith("xa")
    assert len(ear.heard) == 2


async def test_a_flood_of_tool_calls_is_dammed_and_the_next_prompt_is_heard():
    talk, session, ear = scene()
    for number in range(MAX_TOLD_CALLS + 5):
        tell(talk, "tool_call", toolCallId=str(number))

    assert len(ear.heard) == MAX_TOLD_CALLS
    assert len(session.calls) == MAX_CALLS
    session.begin(asyncio.get_running_loop().create_future())
    tell(talk, "tool_call", toolCallId="x")
    assert ear.heard[-1] == ("s", "x", "")


async def test_of_sessions_that_nobody_opened_only_so_many_are_kept(monkeypatch):
    monkeypatch.setattr(talk_module, "MAX_SESSIONS", 3)
    talk, _, ear = scene()
    for number in range(9):
        tell(talk, "available_commands_update", session=f"strange {number}", availableCommands=[])
    talk.ended()

    assert ear.heard == [("s", "died")]


async def test_what_was_told_of_a_session_before_it_was_opened_counts():
    talk, _, _ = scene()
    tell(talk, "available_commands_update", session="new", availableCommands=[{"name": "init"}])
    assert not talk.has_open("new")

    assert [one.name for one in talk.open("new").commands] == ["init"]


async def test_the_end_is_told_once():
    talk, session, ear = scene()
    talk.open("other")
    talk.lose(session)
    talk.ended()
    talk.ended()

    assert ear.heard == [("s", "died"), ("other", "died")]


async def test_a_session_that_opens_when_its_child_has_ended_is_a_failure():
    talk, _, ear = scene()
    talk.ended()
    with pytest.raises(AgentDied):
        talk.open("late")

    assert ear.heard == [("s", "died")]


async def test_a_session_that_is_lost_when_its_child_has_ended_is_told_dead_once():
    talk, session, ear = scene()
    talk.ended()
    talk.lose(session)

    assert ear.heard == [("s", "died")]


@pytest.mark.parametrize("what", ["agent_thought_chunk", "plan", "user_message_chunk", "something_new"])
async def test_what_is_no_answer_is_passed_over(what):
    talk, session, ear = scene()
    tell(talk, what, content={"type": "text", "text": "hm"}, entries=[])

    assert (session.written, ear.heard) == ([], [])


async def test_other_words_of_a_child_are_left_to_others():
    talk, _, _ = scene()

    assert not talk.hear(jsonrpc.Notification("memlane/progress", {}))
    assert not talk.asked(jsonrpc.Request(1, "fs/read_text_file", {}), print)
