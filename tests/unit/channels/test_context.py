"""What an agent is told at the beginning of a session: design page "Channel layer", 2.8 and 3."""

import asyncio

from channels.config import ChannelIdentityConfig, ChannelMemoryScopeConfig
from channels.memory_lane import ChatMemory
from channels.replies import STEER_NOTE
from core.errors import DependencyError
from tests.support.channels.scene import scene, settle
from tests.support.channels.slow_stores import GatedLedger

NOTE = """\
Channel identity:
- id: bot-1
- display name: Bot
- description: helps

Memory scope:
- namespace: team
- mode: metadata-only
- data from other channels must not be shared."""
LABELS = {
    "identity": ChannelIdentityConfig("bot-1", "Bot", "helps"),
    "memory_scope": ChannelMemoryScopeConfig("team"),
}


class Unreadable(DependencyError):
    code = "test_memory_unreadable"


class Memory(ChatMemory):
    def __init__(self, text=""):
        self.text = text
        self.failures = 0

    async def read(self, target):
        if self.failures:
            self.failures -= 1
            raise Unreadable("no")
        return self.text


async def answered(chat, text="x"):
    chat.bridge.answer(text)
    await settle()


async def test_with_nothing_configured_the_first_message_stays_as_it_is():
    chat = scene()
    await chat.say("hello")

    assert chat.prompted == ["hello"]


async def test_instructions_and_note_come_first_and_once():
    chat = scene(instructions="Be kind.", **LABELS)
    await chat.say("one")
    await answered(chat)
    await chat.say("two")

    assert chat.prompted == [f"Be kind.\n\n{NOTE}\n\none", "two"]


async def test_instructions_alone_bring_no_note():
    chat = scene(instructions="Be kind.")
    await chat.say("one")

    assert chat.prompted == ["Be kind.\n\none"]


async def test_the_note_without_a_description_has_no_such_line():
    chat = scene(identity=ChannelIdentityConfig("bot-1"))
    await chat.say("one")

    assert chat.prompted[0].startswith(
        "Channel identity:\n- id: bot-1\n- display name: chat\n\nMemory scope:\n- namespace: channel:chat\n"
    )


async def test_what_is_configured_can_t_add_lines_to_the_note():
    chat = scene(identity=ChannelIdentityConfig("a\nb", 'x"' + "y" * 200, "d" * 300))
    await chat.say("one")

    note = chat.prompted[0]
    assert "- id: a b\n" in note
    assert f"- display name: x {'y' * 125}…\n" in note
    assert f"- description: {'d' * 255}…\n" in note


async def test_memory_is_told_before_all_else_to_who_is_listed():
    chat = scene(memory=Memory("- likes tea"), allowed_users=("u1",), instructions="Be kind.")
    await chat.say("one")

    assert chat.prompted == ["Channel memory for this chat:\n- likes tea\n\nBe kind.\n\none"]


async def test_memory_is_not_told_to_who_is_not_listed():
    chat = scene(memory=Memory("- likes tea"), allowed_users=("u2",))
    await chat.say("one")

    assert chat.prompted == ["one"]


async def test_memory_is_told_in_a_shared_session_only_where_all_are_listed():
    shared = {"session_scope": "single", "allowed_users": ("u1",), "memory": Memory("- likes tea")}
    for policy, is_told in (("open", False), ("allowlist", True)):
        chat = scene(sender_policy=policy, **shared)
        await chat.say("one")

        assert ("likes tea" in chat.prompted[0]) is is_told


async def test_memory_that_can_t_be_read_is_told_with_the_next_turn_and_all_else_again(capsys):
    memory = Memory("- likes tea")
    memory.failures = 1
    chat = scene(memory=memory, allowed_users=("u1",), instructions="Be kind.")
    await chat.say("one")
    await answered(chat)
    await chat.say("two")

    assert chat.prompted == [
        "Be kind.\n\none",
        "Channel memory for this chat:\n- likes tea\n\nBe kind.\n\ntwo",
    ]
    told = capsys.readouterr()
    assert "channel memory read failed" in told.out + told.err


async def test_a_turn_that_waited_while_memory_could_not_be_read_tells_it():
    memory = Memory("- likes tea")
    memory.failures = 1
    chat = scene(memory=memory, allowed_users=("u1",), dispatch_mode="followup")
    await chat.say("one")
    await chat.say("two")
    await answered(chat)

    assert chat.prompted[1].startswith("Channel memory for this chat:")


async def test_after_a_first_prompt_that_failed_the_context_is_told_again():
    chat = scene(instructions="Be kind.")
    await chat.say("one")
    chat.bridge.fail("no model")
    await settle()
    await chat.say("two")

    assert chat.prompted[1] == "Be kind.\n\ntwo"


async def test_after_a_first_prompt_that_failed_in_mid_answer_it_is_not_told_again():
    chat = scene(instructions="Be kind.")
    await chat.say("one")
    chat.bridge.write("some")
    chat.bridge.fail("broken off")
    await settle()
    await chat.say("two")

    assert chat.prompted[1] == "two"


async def test_after_a_first_prompt_that_failed_once_it_used_a_tool_it_is_not_told_again():
    chat = scene(instructions="Be kind.")
    await chat.say("one")
    chat.bridge.use_tool()
    chat.bridge.fail("not now")
    await settle()
    await chat.say("two")

    assert chat.prompted == ["Be kind.\n\none", "two"]


async def test_after_a_later_prompt_that_failed_it_is_not_told_again():
    chat = scene(instructions="Be kind.")
    await chat.say("one")
    await answered(chat)
    await chat.say("two")
    chat.bridge.fail("not now")
    await settle()
    await chat.say("three")

    assert chat.prompted == ["Be kind.\n\none", "two", "three"]


async def test_after_clear_the_context_is_told_again():
    chat = scene(instructions="Be kind.")
    await chat.say("one")
    await answered(chat)
    await chat.say("/clear")
    await chat.say("two")

    assert chat.prompted[1] == "Be kind.\n\ntwo"


async def test_after_a_session_died_the_context_is_told_again():
    chat = scene(instructions="Be kind.")
    await chat.say("one")
    chat.bridge.die("s1")
    await settle()
    await chat.say("two")

    assert chat.prompted[1] == "Be kind.\n\ntwo"


async def test_after_memory_changed_the_context_is_told_again():
    chat = scene(instructions="Be kind.")
    await chat.say("one")
    await answered(chat)
    chat.channel.forget_context()
    await chat.say("two")

    assert chat.prompted[1] == "Be kind.\n\ntwo"


async def test_each_session_is_told_the_context():
    chat = scene(instructions="Be kind.")
    await chat.say("one", sender_id="u1")
    await chat.say("two", sender_id="u2")

    assert all(text.startswith("Be kind.") for text in chat.prompted)


async def test_identity_and_scope_follow_from_the_channel_s_name():
    chat = scene()

    assert chat.channel.identity.id == "channel:chat"
    assert chat.channel.identity.display_name == "chat"
    assert chat.channel.identity.description is None
    assert chat.channel.memory_scope.namespace == "channel:chat"
    assert chat.channel.memory_scope.mode == "metadata-only"


async def test_after_a_turn_that_was_called_off_before_the_agent_was_asked_the_context_is_told():
    chat = scene(instructions="Be brief.")
    chat.ledger = GatedLedger()
    chat.open()
    await chat.say("one")
    await chat.say("two")
    chat.ledger.gate.set()
    await settle()

    assert chat.prompted == [f"Be brief.\n\none\n\n{STEER_NOTE}\n\ntwo"]


async def test_the_context_is_told_by_the_next_turn_that_runs_whatever_waits_behind_it():
    chat = scene(instructions="Be brief.", dispatch_mode="followup")
    await chat.say("one")
    await chat.say("two")
    waiting = asyncio.create_task(chat.channel.handle_inbound(chat.message("three")))
    waiting.add_done_callback(lambda done: done.exception())
    chat.bridge.fail("no model")
    await settle()
    chat.bridge.answer("second")
    await settle()

    assert chat.prompted == ["Be brief.\n\none", "Be brief.\n\ntwo", "three"]
