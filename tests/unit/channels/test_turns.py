"""A turn from its message to its end: design page "Channel layer", 2.9, 4.2 and 4.3."""

import pytest

from channels.config import BlockStreaming
from channels.lifecycle import TurnFailed, TurnToolCall
from tests.support.channels.scene import scene, settle
from tests.support.channels.scripted_bridge import AgentFailure


async def test_events_and_hooks_of_an_answered_turn_come_in_their_order():
    chat = scene()
    await chat.say("hello")
    chat.bridge.write("Hi")
    chat.bridge.use_tool()
    chat.bridge.answer("Hi")
    await settle()

    assert chat.log == [
        *("started", "start hook", "text_chunk", "chunk hook Hi", "tool_call", "tool hook c1"),
        *("send Hi", "completed", "end hook"),
    ]


async def test_a_turn_that_fails_tells_so_before_its_end_and_raises():
    chat = scene()
    message = await chat.say("hello")
    chat.bridge.fail("no model")
    await settle()

    assert chat.log == ["started", "start hook", "failed", "end hook"]
    assert isinstance(message.exception(), AgentFailure)
    assert chat.channel.events[-1].phase == "agent"
    assert chat.channel.events[-1].error == "no model"


async def test_an_answer_that_can_t_be_sent_fails_the_turn_in_its_delivery():
    chat = scene()
    message = await chat.say("hello")
    chat.channel.refuses = 1
    chat.bridge.answer("Hi")
    await settle()

    assert chat.log == ["started", "start hook", "failed", "end hook"]
    assert chat.channel.events[-1].phase == "delivery"
    assert message.exception().code == "channel_delivery_failed"


async def test_an_empty_answer_is_not_sent_and_completes():
    chat = scene()
    await chat.say("hello")
    chat.bridge.answer("")
    await settle()

    assert chat.log == ["started", "start hook", "completed", "end hook"]


async def test_a_failed_turn_does_not_block_the_next():
    chat = scene(dispatch_mode="followup")
    await chat.say("one")
    await chat.say("two")
    chat.bridge.fail("no model", number=0)
    await settle()
    chat.bridge.answer("second")
    await settle()

    assert chat.texts == ["second"]
    assert chat.types == ["started", "failed", "started", "completed"]


async def test_the_error_of_a_failed_turn_is_cut_and_harmless():
    chat = scene()
    await chat.say("hello")
    chat.bridge.fail("a\nb\x1b[31m" + "x" * 300)
    await settle()

    failed = chat.channel.events[-1]
    assert isinstance(failed, TurnFailed)
    assert failed.error.startswith("a\\nb [31mxxx")
    assert len(failed.error) == 201  # 200, and a newline that became two characters


async def test_a_tool_call_is_cut_and_what_is_missing_is_empty():
    chat = scene()
    await chat.say("hello")
    chat.bridge.use_tool(kind="k" * 30, title="t" * 100, status="")

    call = next(event for event in chat.channel.events if isinstance(event, TurnToolCall)).tool_call
    assert (len(call.kind), len(call.title), call.status) == (20, 80, "")
    assert call.session_id == "s1"
    assert call.tool_call_id == "t1"


async def test_a_tool_call_between_turns_reaches_the_adapter_only():
    chat = scene()
    await chat.say("hello")
    chat.bridge.answer("Hi")
    await settle()
    chat.log.clear()
    chat.bridge.use_tool()

    assert chat.log == ["tool hook c1"]


async def test_a_tool_call_of_a_session_of_somebody_else_reaches_nobody():
    chat = scene()
    await chat.say("hello")
    chat.log.clear()
    chat.bridge.use_tool(session_id="another")

    assert chat.log == []


async def test_chunks_of_another_session_are_not_told():
    chat = scene()
    await chat.say("hello")
    chat.bridge.write("x", session_id="another")

    assert "text_chunk" not in chat.types


async def test_chunks_after_the_turn_s_end_are_not_told():
    chat = scene()
    await chat.say("hello")
    chat.bridge.answer("Hi")
    await settle()
    chat.bridge.write("late")

    assert "text_chunk" not in chat.types


async def test_every_event_carries_the_same_identity_scope_chat_and_message():
    chat = scene()
    await chat.say("hello", chat_id="c7", message_id="m9")
    chat.bridge.write("x")
    chat.bridge.answer("x")
    await settle()

    for event in chat.channel.events:
        assert event.identity is chat.channel.identity
        assert event.memory_scope is chat.channel.memory_scope
        assert (event.channel_name, event.chat_id, event.session_id, event.message_id) == (
            *("chat", "c7", "s1", "m9"),
        )


async def test_a_message_without_an_id_leaves_it_out_of_its_events():
    chat = scene()
    await chat.say("hello", message_id=None)

    assert "messageId" not in chat.channel.events[0].to_wire()


@pytest.mark.parametrize(
    "hook", ["on_task_lifecycle", "on_prompt_start", "on_response_chunk", "on_tool_call", "on_prompt_end"]
)
async def test_a_hook_that_raises_changes_nothing(hook):
    chat = scene()
    chat.channel.raises_in = {hook}
    message = await chat.say("hello")
    chat.bridge.write("Hi")
    chat.bridge.use_tool()
    chat.bridge.answer("Hi")
    await settle()

    assert message.exception() is None
    assert chat.texts == ["Hi"]
    assert chat.types == ["started", "text_chunk", "tool_call", "completed"]


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        ("on_task_lifecycle", "onTaskLifecycle threw for started session s1"),
        ("on_prompt_start", "onPromptStart threw"),
        ("on_response_chunk", "onResponseChunk threw"),
        ("on_tool_call", "onToolCall threw"),
        ("on_prompt_end", "onPromptEnd threw in finally"),
    ],
)
async def test_a_hook_that_raises_is_told_in_the_log(hook, told, capsys):
    chat = scene()
    chat.channel.raises_in = {hook}
    await chat.say("hello")
    chat.bridge.write("Hi")
    chat.bridge.use_tool()
    chat.bridge.answer("Hi")
    await settle()

    written = capsys.readouterr()
    assert f"[chat] {told}: the adapter's own fault" in written.out + written.err


async def test_an_async_hook_is_called_and_not_waited_for(capsys):
    chat = scene()
    seen = []

    async def observe(event):
        seen.append(event.type)
        await settle()
        raise RuntimeError("late fault")

    chat.channel.on_task_lifecycle = observe
    await chat.say("hello")
    chat.bridge.answer("Hi")
    await settle()
    await settle()

    assert seen == ["started", "completed"]
    told = capsys.readouterr()
    assert "late fault" in told.out + told.err


async def test_no_events_come_of_messages_that_are_not_let_in():
    chat = scene(sender_policy="allowlist")
    await chat.say("hello")

    assert chat.log == []
    assert chat.prompted == []


async def test_turns_of_two_sessions_run_beside_each_other():
    chat = scene()
    await chat.say("one", sender_id="u1")
    await chat.say("two", sender_id="u2")

    assert len(chat.prompted) == 2
    assert chat.bridge.most_prompts_at_once == 1


async def test_with_streaming_an_answer_arrives_in_blocks_and_not_again_whole():
    chat = scene(block_streaming=BlockStreaming(5, 12, 0))
    await chat.say("hello")
    chat.bridge.write("first\n\nsecond")
    await settle()
    assert chat.texts == ["first"]
    chat.bridge.answer("first\n\nsecond")
    await settle()

    assert chat.texts == ["first", "second"]
    assert chat.types[-1] == "completed"


async def test_with_streaming_the_first_block_that_can_t_be_sent_fails_the_turn():
    chat = scene(block_streaming=BlockStreaming(5, 12, 0))
    await chat.say("hello")
    chat.channel.refuses = 1
    chat.bridge.write("first\n\nsecond")
    await settle()
    chat.bridge.answer("first\n\nsecond")
    await settle()

    assert chat.types[-1] == "failed"
    assert chat.channel.events[-1].phase == "delivery"
    assert chat.texts == []


async def test_with_streaming_an_answer_without_chunks_is_sent_whole():
    chat = scene(block_streaming=BlockStreaming(5, 12, 0))
    await chat.say("hello")
    chat.bridge.answer("an answer of more than twelve characters")
    await settle()

    assert chat.texts == ["an answer of more than twelve characters"]


async def test_an_answer_in_several_parts_arrives_in_their_order():
    chat = scene()
    chat.channel.limit = 4
    await chat.say("hello", thread_id="t5")
    chat.bridge.answer("abcdefghij")
    await settle()

    assert chat.channel.sent == [("c1", "t5", "abcd"), ("c1", "t5", "efgh"), ("c1", "t5", "ij")]


async def test_after_a_part_that_can_t_be_sent_no_other_is_sent():
    chat = scene()
    chat.channel.limit = 4
    await chat.say("hello")
    chat.channel.refuses = 1
    chat.bridge.answer("abcdefghij")
    await settle()

    assert chat.texts == []
    assert await chat.outbox.unsent() == ()


async def test_with_streaming_an_answer_whose_chunks_are_blank_is_sent_whole():
    chat = scene(block_streaming=BlockStreaming(5, 10, 0))
    await chat.say("hello")
    chat.bridge.write("\n\n")
    chat.bridge.answer("\n\nall of it")
    await settle()

    assert chat.texts == ["\n\nall of it"]


async def test_an_adapter_may_deliver_an_answer_in_several_messages():
    chat = scene()
    deliver = chat.channel.on_response_complete

    async def in_two(chat_id, full_text, session_id):
        await deliver(chat_id, full_text, session_id)
        await deliver(chat_id, "and more", session_id)

    chat.channel.on_response_complete = in_two
    await chat.say("hello")
    chat.bridge.answer("done")
    await settle()

    assert chat.texts == ["done", "and more"]
