"""Memory commands of a chat."""

import asyncio

import pytest

from channels.memory_commands import WORKING, MemoryCommands
from channels.memory_lane import MemoryReport
from channels.volatile import VolatileOutbox
from core.errors import DependencyError, InputError
from tests.support.channels.scene import scene, settle


class Refused(InputError):
    code = "test_refused"


class Away(DependencyError):
    code = "test_away"


class Lane:
    """Answers each request when the test says so."""

    def __init__(self):
        self.requests = []
        self.reports = []

    async def ask(self, request):
        self.requests.append(request)
        report = asyncio.get_running_loop().create_future()
        self.reports.append(report)
        return await report


def opened(**settings):
    chat, lane = scene(**settings), Lane()
    MemoryCommands(chat.channel, lane, chat.timers)
    return chat, lane


async def answered(chat, lane, outcome):
    if isinstance(outcome, Exception):
        lane.reports[-1].set_exception(outcome)
    else:
        lane.reports[-1].set_result(outcome)
    await settle()


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("/remember I like tea", "remember", "I like tea"),
        ("/forget tea", "forget", "tea"),
        ("/dream", "dream", ""),
        ("/undo r1", "undo", "r1"),
    ],
)
async def test_what_is_asked_goes_into_the_lane_and_is_answered_at_its_end(text, kind, words):
    chat, lane = opened()
    await chat.say(text)
    assert chat.texts == []
    await answered(chat, lane, MemoryReport("completed", "Done.", "r7"))

    assert (lane.requests[0].kind, lane.requests[0].text) == (kind, words)
    assert chat.texts == ["Done.\n\nTo take this back: /undo r7"]
    assert chat.prompted == []


async def test_what_changed_nothing_has_nothing_to_take_back():
    chat, lane = opened()
    await chat.say("/forget tea")
    await answered(chat, lane, MemoryReport("completed", "Nothing to forget."))

    assert chat.texts == ["Nothing to forget."]


async def test_help_says_what_the_commands_do():
    chat, _ = opened()
    await chat.say("/help")

    assert "\n/remember - have memory keep what follows\n" in chat.texts[0]


@pytest.mark.parametrize("command", ["/remember", "/forget ", "/undo"])
async def test_without_words_it_says_what_is_missing(command):
    chat, lane = opened()
    await chat.say(command)

    assert lane.requests == []
    assert chat.texts[0].startswith("Say ")


async def test_a_failure_is_told():
    chat, lane = opened()
    await chat.say("/dream")
    await answered(chat, lane, MemoryReport("failed", "no model"))

    assert chat.texts == ["Sorry, that failed: no model"]


async def test_a_request_that_was_not_taken_says_why():
    chat, lane = opened()
    await chat.say("/dream")
    await answered(chat, lane, Refused("too many wait"))

    assert chat.texts == ["That was not taken: too many wait"]


async def test_without_an_answer_of_the_service_nobody_is_told_that_it_failed():
    chat, lane = opened()
    await chat.say("/dream")
    await answered(chat, lane, Away("no answer"))

    assert chat.texts == ["It is not known whether that was taken: no answer"]


async def test_what_takes_long_says_so_once():
    chat, lane = opened()
    await chat.say("/dream")
    await chat.later(5_000)
    await chat.later(5_000)
    assert chat.texts == [WORKING]
    await answered(chat, lane, MemoryReport("completed", "Done."))

    assert chat.texts == [WORKING, "Done."]


class AwayOutbox(VolatileOutbox):
    """Takes nothing."""

    async def add(self, parts):
        await asyncio.get_running_loop().create_future()


async def test_a_process_that_ends_does_not_wait_until_it_can_be_said_that_it_takes_long():
    chat, lane = opened()
    chat.outbox = AwayOutbox()
    chat.open()
    MemoryCommands(chat.channel, lane, chat.timers)
    message = await chat.say("/remember I like tea")
    await chat.later(5_000)
    message.cancel()
    await settle()

    assert message.cancelled()


async def test_an_answer_is_not_taken_for_what_was_said_before_a_crash():
    chat, lane = opened()
    said = chat.message("/dream", receipts=("r1",))
    first = asyncio.create_task(chat.channel.handle_inbound(said))
    await settle()
    await chat.later(5_000)
    assert chat.texts == [WORKING]
    first.cancel()
    await settle()
    chat.open()
    MemoryCommands(chat.channel, lane, chat.timers)
    again = asyncio.create_task(chat.channel.handle_inbound(said))
    await settle()
    await answered(chat, lane, MemoryReport("completed", "Done."))

    assert chat.texts == ["Done."]
    assert again.done()


async def test_the_same_message_is_the_same_request():
    chat, lane = opened()
    await chat.say("/dream", message_id="m1")
    await chat.say("/dream", message_id="m1")
    await chat.say("/dream", message_id="m2")

    keys = [request.key for request in lane.requests]
    assert keys[0] == keys[1] != keys[2]


async def test_on_a_shared_session_only_those_who_are_listed_may():
    chat, lane = opened(session_scope="single", allowed_users=("boss",))
    await chat.say("/remember x", sender_id="u2")

    assert lane.requests == []
    assert "authorized" in chat.texts[0]


async def test_after_memory_changed_the_next_turn_is_told_the_context_again():
    chat, lane = opened(instructions="Be kind.")
    await chat.say("one")
    chat.bridge.answer("x")
    await settle()
    await chat.say("/remember tea")
    await answered(chat, lane, MemoryReport("completed", "Done.", "r1"))
    await chat.say("two")

    assert chat.prompted[1] == "Be kind.\n\ntwo"


async def test_they_are_listed_by_help():
    chat, _ = opened()
    await chat.say("/help")

    assert all(f"/{name}" in chat.texts[0] for name in ("remember", "forget", "dream", "undo"))
