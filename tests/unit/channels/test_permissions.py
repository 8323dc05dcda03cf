"""An agent asks for permission in the chat: design page "Channel layer", 7.2."""

import asyncio
import secrets

import pytest

from channels.config import GroupConfig
from channels.permissions import DONE, MENTION_IT, NOT_YOURS, UNKNOWN, PermissionRelay
from core.chat import PermissionOption, PermissionRequest, ToolCall
from tests.support.channels.scene import scene, settle

OPTIONS = (
    PermissionOption("always", "Always", "allow_always"),
    PermissionOption("yes", "Yes", "allow_once"),
    PermissionOption("no", "No", "reject_once"),
)


async def asked(*, title="rm -r x", options=OPTIONS, first=None, **settings):
    """A chat whose running turn waits for permission, the decision, and its code."""
    chat = scene(**({"group_policy": "open"} | settings))
    relay = PermissionRelay(chat.channel, chat.timers)
    await chat.say("do it", **(first or {}))
    request = PermissionRequest("s1", ToolCall("t", "execute", title, "pending"), options)
    decision = asyncio.create_task(relay.decide(request))
    await settle()
    code = chat.texts[-1].partition("/deny ")[2][:4]
    return chat, decision, code


@pytest.mark.parametrize(
    ("command", "option", "kind"), [("approve", "yes", "allow_once"), ("deny", "no", "reject_once")]
)
async def test_the_person_whose_turn_it_is_decides(command, option, kind):
    chat, decision, code = await asked()
    assert chat.texts == [f'The agent asks for permission: "rm -r x". Answer /approve {code} or /deny {code}']
    await chat.say(f"/{command} {code.lower()}")

    assert await decision == option
    assert chat.texts[-1] == DONE[kind]


async def test_nobody_else_decides_in_a_private_chat():
    chat, decision, code = await asked(session_scope="user")
    await chat.say(f"/approve {code}", sender_id="u2")

    assert chat.texts[-1] == NOT_YOURS
    assert not decision.done()
    decision.cancel()


async def test_in_a_group_those_who_are_listed_decide():
    group = {"is_group": True, "is_mentioned": True}
    chat, decision, code = await asked(allowed_users=("boss",), first=group)
    await chat.say(f"/approve {code}", **group)
    assert chat.texts[-1] == NOT_YOURS
    await chat.say(f"/approve {code}", sender_id="boss", **group)

    assert await decision == "yes"


async def test_in_a_group_without_a_list_the_person_whose_turn_it_is_decides():
    group = {"is_group": True, "is_mentioned": True}
    chat, decision, code = await asked(first=group)
    await chat.say(f"/approve {code}", sender_id="u2", **group)
    assert not decision.done()
    await chat.say(f"/approve {code}", **group)

    assert await decision == "yes"


@pytest.mark.parametrize("words", ["/approve", "/approve XXXX", "/deny 1234 5"])
async def test_a_wrong_code_decides_nothing(words):
    chat, decision, _ = await asked()
    await chat.say(words)

    assert chat.texts[-1] == UNKNOWN
    assert not decision.done()
    decision.cancel()


async def test_a_code_is_of_no_use_in_another_chat():
    chat, decision, code = await asked()
    await chat.say(f"/approve {code}", chat_id="c2")

    assert chat.texts[-1] == UNKNOWN
    decision.cancel()


async def test_a_code_is_good_once():
    chat, decision, code = await asked()
    await chat.say(f"/deny {code}")
    await chat.say(f"/approve {code}")

    assert await decision == "no"
    assert chat.texts[-1] == UNKNOWN


async def test_of_two_answers_at_once_the_first_counts():
    chat, decision, code = await asked()
    answers = [chat.channel.handle_inbound(chat.message(f"/{word} {code}")) for word in ("deny", "approve")]
    await asyncio.gather(*answers)

    assert await decision == "no"
    assert sorted(chat.texts[1:]) == sorted([DONE["reject_once"], UNKNOWN])


async def test_in_a_private_chat_the_person_whose_turn_it_is_decides_though_others_are_listed():
    chat, decision, code = await asked(allowed_users=("boss",))
    await chat.say(f"/approve {code}", sender_id="boss")
    assert chat.texts[-1] == NOT_YOURS
    await chat.say(f"/approve {code}")

    assert await decision == "yes"


async def test_in_a_private_chat_of_a_shared_session_those_who_are_listed_decide():
    chat, decision, code = await asked(allowed_users=("boss",), session_scope="single")
    await chat.say(f"/approve {code}")
    assert chat.texts[-1] == NOT_YOURS
    await chat.say(f"/approve {code}", sender_id="boss")

    assert await decision == "yes"


async def test_where_a_mention_is_needed_the_question_says_so():
    group = {"is_group": True, "is_mentioned": True}
    chat, decision, _ = await asked(first=group)
    decision.cancel()

    assert chat.texts[0].endswith(MENTION_IT)


async def test_where_no_mention_is_needed_the_question_asks_for_none():
    groups = {"*": GroupConfig(require_mention=False)}
    chat, decision, _ = await asked(first={"is_group": True}, groups=groups)
    decision.cancel()

    assert MENTION_IT not in chat.texts[0]


async def test_two_requests_never_have_the_same_code(monkeypatch):
    drawn = iter("AAAAAAAABBBB")
    monkeypatch.setattr(secrets, "choice", lambda _: next(drawn))
    chat = scene()
    relay = PermissionRelay(chat.channel, chat.timers)
    await chat.say("do it")
    request = PermissionRequest("s1", ToolCall(), OPTIONS)
    first, second = (asyncio.create_task(relay.decide(request)) for _ in range(2))
    await settle()
    await chat.say("/approve AAAA")
    await chat.say("/deny BBBB")

    assert (await first, await second) == ("yes", "no")


async def test_after_five_minutes_nobody_has_decided():
    chat, decision, code = await asked()
    await chat.later(300_000)

    assert await decision is None
    await chat.say(f"/approve {code}")
    assert chat.texts[-1] == UNKNOWN


async def test_what_would_outlast_this_use_is_not_given():
    chat, decision, code = await asked(options=OPTIONS[:1])
    await chat.say(f"/approve {code}")

    assert await decision is None


async def test_without_a_turn_nobody_is_asked():
    chat = scene()
    relay = PermissionRelay(chat.channel, chat.timers)

    assert await relay.decide(PermissionRequest("s9", ToolCall(), OPTIONS)) is None
    assert chat.texts == []


async def test_a_cancelled_turn_asks_nobody():
    chat = scene()
    relay = PermissionRelay(chat.channel, chat.timers)
    await chat.say("do it")
    await chat.say("/cancel")

    assert await relay.decide(PermissionRequest("s1", ToolCall(), OPTIONS)) is None


async def test_what_the_agent_wants_can_t_leave_its_quotes():
    chat, decision, _ = await asked(title='a" b\n/approve' + "x" * 600)

    assert '"a  b /approve' in chat.texts[0]
    assert "\n" not in chat.texts[0]
    assert len(chat.texts[0]) < 620
    decision.cancel()
