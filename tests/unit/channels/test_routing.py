"""Which session serves whom: design page "Channel layer", 2.5."""

import asyncio

import pytest

from channels.volatile import VolatileRoutes
from tests.support.channels.scene import scene, settle
from tests.support.channels.scripted_bridge import AgentFailure


class HeldMemory:
    """Is read once the test lets it."""

    def __init__(self):
        self.gate = asyncio.Event()

    async def read(self, target):
        await self.gate.wait()
        return "- likes tea"


async def sessions_of(scope, *messages):
    chat = scene(session_scope=scope, dispatch_mode="followup", group_policy="open")
    for facts in messages:
        await chat.say("hello", **({"is_mentioned": True} | facts))
        if not chat.bridge.prompts[-1].answer.done():
            chat.bridge.answer("x")
        await settle()
    return [prompt.session_id for prompt in chat.bridge.prompts]


@pytest.mark.parametrize(
    ("scope", "other", "is_same"),
    [
        ("user", {"chat_id": "c2"}, False),
        ("user", {"sender_id": "u2"}, False),
        ("user", {"thread_id": "t2"}, True),
        ("thread", {"sender_id": "u2"}, True),
        ("thread", {"thread_id": "t2"}, False),
        ("thread", {"chat_id": "c2"}, False),
        ("thread", {"chat_id": "c2", "thread_id": "1"}, False),
        ("single", {"chat_id": "c2", "sender_id": "u2", "thread_id": "t2"}, True),
    ],
)
async def test_a_session_is_shared_as_its_scope_says(scope, other, is_same):
    first, second = await sessions_of(scope, {}, other)

    assert (first == second) is is_same


async def test_equal_topic_numbers_of_two_groups_are_two_sessions():
    first, second = await sessions_of("thread", {"thread_id": "7"}, {"thread_id": "7", "chat_id": "c2"})

    assert first != second


async def test_ids_with_separators_in_them_don_t_meet():
    facts = ({"sender_id": "a:b", "chat_id": "c"}, {"sender_id": "a", "chat_id": "b:c"})
    first, second = await sessions_of("user", *facts)

    assert first != second


async def test_messages_at_once_open_one_session():
    chat = scene(dispatch_mode="followup")
    chat.bridge.openings = []
    await chat.say("one")
    await chat.say("two")
    assert len(chat.bridge.openings) == 1
    chat.bridge.openings[0].set_result("s1")
    await settle()

    assert chat.prompted == ["one"]


@pytest.mark.parametrize("steps", range(10))
async def test_who_comes_when_a_session_was_just_opened_goes_behind_those_who_waited_for_it(steps):
    chat = scene(dispatch_mode="followup")
    chat.bridge.openings = []
    await chat.say("one")
    await chat.say("two")
    chat.bridge.openings[0].set_result("s1")
    for _ in range(steps):
        await asyncio.sleep(0)
    await chat.say("three")
    for _ in range(3):
        chat.bridge.answer("answered")
        await settle()

    assert chat.prompted == ["one", "two", "three"]


async def test_who_waited_for_a_session_that_could_not_be_opened_tries_again():
    chat = scene(dispatch_mode="followup")
    chat.bridge.openings = []
    first = await chat.say("one")
    await chat.say("two")
    chat.bridge.openings[0].set_exception(RuntimeError("no"))
    await settle()
    assert first.exception() is not None
    chat.bridge.openings[1].set_result("s1")
    await settle()

    assert chat.prompted == ["two"]


async def test_who_waited_for_three_sessions_that_could_not_be_opened_has_the_fourth():
    chat = scene(dispatch_mode="followup")
    chat.bridge.openings = []
    for text in ("one", "two", "three", "four"):
        await chat.say(text)
    for opening in range(3):
        chat.bridge.openings[opening].set_exception(AgentFailure("not now"))
        await settle()
    chat.bridge.openings[3].set_result("s4")
    await settle()

    assert [(prompt.session_id, prompt.text) for prompt in chat.bridge.prompts] == [("s4", "four")]


@pytest.mark.parametrize("bad", ["", None, 7])
async def test_a_session_without_an_id_is_an_error(bad):
    chat = scene()
    chat.bridge.openings = []
    message = await chat.say("one")
    chat.bridge.openings[0].set_result(bad)
    await settle()

    assert message.exception().code == "agent_session_failed"


async def test_a_session_that_dies_while_it_is_opened_is_opened_once_more():
    chat = scene()
    chat.bridge.openings = []
    await chat.say("one")
    chat.bridge.die("s1")
    chat.bridge.openings[0].set_result("s1")
    await settle()
    chat.bridge.openings[1].set_result("s2")
    await settle()

    assert chat.bridge.prompts[0].session_id == "s2"


async def test_sessions_that_die_twice_while_they_are_opened_are_an_error():
    chat = scene()
    chat.bridge.openings = []
    message = await chat.say("one")
    for n in range(2):
        chat.bridge.die(f"s{n}")
        chat.bridge.openings[n].set_result(f"s{n}")
        await settle()

    assert message.exception().code == "agent_session_failed"


async def test_after_a_session_died_the_next_message_opens_another():
    chat = scene()
    message = await chat.say("one")
    chat.bridge.die("s1")
    await settle()
    assert chat.types == ["started", "failed"]
    assert message.exception() is not None
    await chat.say("two")

    assert chat.bridge.prompts[-1].session_id == "s2"


async def test_an_answer_that_comes_although_the_session_died_is_delivered():
    chat = scene()
    await chat.say("one")
    for listener in list(chat.bridge._listeners):
        listener.session_died("s1")
    chat.bridge.answer("still")
    await settle()

    assert chat.texts == ["still"]
    assert chat.types[-1] == "completed"


async def restarted(chat):
    await chat.channel.close()
    chat.open()
    await chat.channel.recover()


async def test_after_a_restart_the_same_people_have_the_same_session():
    chat = scene()
    await chat.say("one")
    chat.bridge.answer("x")
    await settle()
    await restarted(chat)
    await chat.say("two")

    assert chat.bridge.loaded == ["s1"]
    assert chat.bridge.prompts[-1].session_id == "s1"


@pytest.mark.parametrize("is_cleared", [True, False])
async def test_a_session_that_was_cleared_or_given_up_is_not_restored(is_cleared):
    chat = scene()
    await chat.say("one")
    if is_cleared:
        chat.bridge.answer("x")
        await settle()
        await chat.say("/clear")
    else:
        await chat.later(600_000)
        await chat.later(3_000)
    await restarted(chat)
    await chat.say("two")

    assert chat.bridge.loaded == []
    assert chat.bridge.prompts[-1].session_id == "s2"


async def test_a_session_that_was_restored_as_another_one_is_known_as_that_from_then_on():
    chat = scene()
    await chat.say("one")
    chat.bridge.answer("x")
    await settle()
    chat.bridge.renamed = {"s1": "s1b"}
    await restarted(chat)
    await restarted(chat)

    assert chat.bridge.loaded == ["s1", "s1b"]


async def test_a_session_that_can_t_be_restored_is_replaced_by_the_next_message():
    chat = scene()
    await chat.say("one")
    chat.bridge.answer("x")
    await settle()
    chat.bridge.lost_sessions = {"s1"}
    await restarted(chat)
    await chat.say("two")

    assert chat.bridge.prompts[-1].session_id == "s2"


async def test_a_message_waits_for_its_session_to_be_restored():
    chat = scene()
    await chat.say("one")
    chat.bridge.answer("x")
    await settle()
    await chat.channel.close()
    chat.open()
    gate = asyncio.Event()
    load = chat.bridge.load_session

    async def slow_load(session_id, *, cwd):
        await gate.wait()
        return await load(session_id, cwd=cwd)

    chat.bridge.load_session = slow_load
    recovering = asyncio.create_task(chat.channel.recover())
    await settle()
    await chat.say("two")
    assert len(chat.prompted) == 1
    gate.set()
    await settle()

    assert chat.bridge.prompts[-1].session_id == "s1"
    assert recovering.done()


async def test_a_turn_that_runs_keeps_the_bridge_it_began_with():
    from tests.support.channels.scripted_bridge import ScriptedBridge

    chat = scene()
    await chat.say("one")
    old, new = chat.bridge, ScriptedBridge()
    chat.channel.set_bridge(new)
    old.write("from the old one")
    old.answer("from the old one")
    await settle()

    assert chat.texts == ["from the old one"]
    assert "text_chunk" in chat.types


async def test_after_the_bridge_is_replaced_new_turns_use_the_new_one():
    from tests.support.channels.scripted_bridge import ScriptedBridge

    chat = scene()
    await chat.say("one")
    chat.bridge.answer("x")
    await settle()
    new = ScriptedBridge()
    chat.channel.set_bridge(new)
    await chat.say("two", sender_id="u2")

    assert [prompt.text for prompt in new.prompts] == ["two"]


async def test_what_waits_behind_a_session_that_died_is_answered_in_another():
    chat = scene(dispatch_mode="followup")
    await chat.say("one")
    waiting = await chat.say("two")
    chat.bridge.die("s1")
    await settle()
    chat.bridge.answer("second")
    await settle()

    assert [prompt.session_id for prompt in chat.bridge.prompts] == ["s1", "s2"]
    assert chat.texts == ["second"]
    assert waiting.exception() is None


async def test_a_session_that_dies_while_it_and_others_are_opened_is_not_used():
    chat = scene()
    chat.bridge.openings = []
    await chat.say("one")
    chat.bridge.die("s1")
    await chat.say("two", sender_id="u2")
    chat.bridge.openings[0].set_result("s1")
    chat.bridge.openings[1].set_result("s2")
    await settle()
    chat.bridge.openings[2].set_result("s3")
    await settle()

    assert sorted((prompt.session_id, prompt.text) for prompt in chat.bridge.prompts) == [
        ("s2", "two"),
        ("s3", "one"),
    ]


class HeldRoutes(VolatileRoutes):
    """Saves once the test lets it."""

    def __init__(self):
        super().__init__()
        self.gate = asyncio.Event()

    async def save(self, routes):
        await self.gate.wait()
        await super().save(routes)


async def test_a_session_that_dies_while_its_route_is_saved_is_not_used():
    chat = scene()
    chat.routes = HeldRoutes()
    chat.open()
    await chat.say("one")
    chat.bridge.die("s1")
    chat.routes.gate.set()
    await settle()

    assert [(prompt.session_id, prompt.text) for prompt in chat.bridge.prompts] == [("s2", "one")]


async def test_a_session_that_dies_while_memory_is_read_for_its_first_message_is_not_used():
    memory = HeldMemory()
    chat = scene(memory=memory, allowed_users=("u1",))
    await chat.say("one")
    chat.bridge.die("s1")
    memory.gate.set()
    await settle()

    assert [prompt.session_id for prompt in chat.bridge.prompts] == ["s2"]
    assert chat.types == ["started"]


async def test_a_session_that_dies_while_it_is_restored_is_not_used():
    chat = scene()
    await chat.say("one")
    chat.bridge.answer("first")
    await settle()
    chat.open()
    load = chat.bridge.load_session

    async def die_meanwhile(session_id, *, cwd):
        chat.bridge.die(session_id)
        return await load(session_id, cwd=cwd)

    chat.bridge.load_session = die_meanwhile
    await chat.channel.recover()
    await chat.say("two")

    assert chat.bridge.prompts[-1].session_id == "s2"


async def test_messages_that_waited_in_a_session_that_died_come_before_those_that_follow():
    chat = scene(dispatch_mode="followup")
    for text in ("one", "two", "three"):
        await chat.say(text)
    chat.bridge.die("s1")
    await settle()
    await chat.say("four")
    for _ in range(3):
        chat.bridge.answer("done")
        await settle()

    assert chat.prompted == ["one", "two", "three", "four"]
    assert {prompt.session_id for prompt in chat.bridge.prompts[1:]} == {"s2"}
