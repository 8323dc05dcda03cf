"""Messages to a session that is busy: design page "Channel layer", 2.7."""

import asyncio

from channels.envelope import Attachment
from channels.replies import BUSY, STEER_NOTE
from tests.support.channels.scene import scene, settle

PICTURE = Attachment(type="image", mime_type="image/png", data="aGk=")


async def finish(chat, text="answer"):
    chat.bridge.answer(text)
    await settle()


async def test_followup_messages_each_get_a_turn_in_their_order():
    chat = scene(dispatch_mode="followup")
    for text in ("one", "two", "three"):
        await chat.say(text)
    assert chat.prompted == ["one"]
    for n in range(3):
        await finish(chat, f"answer {n}")

    assert chat.prompted == ["one", "two", "three"]
    assert chat.texts == ["answer 0", "answer 1", "answer 2"]
    assert chat.bridge.most_prompts_at_once == 1


async def test_steer_is_what_happens_unless_told_otherwise():
    chat = scene()
    await chat.say("one")
    await chat.say("two")

    assert chat.log[-1] == "cancelled steer"
    assert chat.bridge.cancelled == ["s1"]


async def test_a_steering_message_tells_the_agent_and_waits_for_the_old_turn_s_cleanup():
    chat = scene()
    await chat.say("one")
    await chat.say("two")
    assert chat.prompted == ["one"]
    await finish(chat)

    assert chat.prompted == ["one", f"{STEER_NOTE}\n\ntwo"]
    assert "previous request has been cancelled" in STEER_NOTE
    assert chat.bridge.most_prompts_at_once == 1


async def test_only_the_first_steer_of_a_turn_cancels_and_both_are_answered():
    chat = scene()
    for text in ("one", "two", "three"):
        await chat.say(text)
    assert chat.bridge.cancelled == ["s1"]
    await finish(chat)
    await finish(chat, "second")
    await finish(chat, "third")

    assert chat.prompted[1:] == [f"{STEER_NOTE}\n\ntwo", f"{STEER_NOTE}\n\nthree"]
    assert chat.texts == ["second", "third"]
    assert chat.types.count("cancelled") == 1


async def test_a_steer_during_delivery_chains_without_a_note_and_both_get_their_answer():
    chat = scene()
    await chat.say("one")
    chat.ledger.start_delivery = _held(chat)
    await finish(chat, "first")
    await chat.say("two")
    chat.delivery_gate.set()
    await settle()
    await finish(chat, "second")

    assert chat.prompted == ["one", "two"]
    assert chat.texts == ["first", "second"]
    assert "cancelled" not in chat.types


def _held(chat):
    import asyncio

    chat.delivery_gate = asyncio.Event()

    async def start_delivery(_turn_id):
        await chat.delivery_gate.wait()

    return start_delivery


async def test_a_steer_by_somebody_who_may_not_is_queued(capsys):
    chat = scene(session_scope="single", allowed_users=("boss",))
    await chat.say("one", sender_id="boss")
    await chat.say("two", sender_id="u2", sender_name="Bob")
    await finish(chat)

    assert "cancelled" not in chat.types
    assert chat.prompted == ["[Ann] one", "[Bob] two"]
    told = capsys.readouterr()
    assert "steer denied for Bob; queuing instead" in told.out + told.err


async def test_an_old_turn_that_is_still_active_after_a_steer_is_told_in_the_log(capsys):
    chat = scene()
    await chat.say("one")
    await chat.say("two")
    await chat.later(3_000)

    told = capsys.readouterr()
    assert "steer queued behind active turn for session s1" in told.out + told.err


async def test_the_look_after_a_steered_turn_is_called_off_when_the_next_starts(capsys):
    chat = scene()
    await chat.say("one")
    await chat.say("two")
    await finish(chat)
    await chat.later(3_000)

    told = capsys.readouterr()
    assert "steer queued" not in told.out + told.err


async def test_collected_messages_become_one_prompt_after_the_turn():
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    two = await chat.say("two")
    await chat.say("three")
    assert two.done()
    await finish(chat)

    assert chat.prompted == ["one", "two\n\nthree"]
    assert chat.types.count("started") == 2


async def test_collected_messages_are_answered_after_a_turn_that_failed():
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    await chat.say("two")
    chat.bridge.fail("broken")
    await settle()

    assert chat.prompted == ["one", "two"]


async def test_collected_messages_keep_their_sender_s_tag_and_get_no_second_one():
    chat = scene(dispatch_mode="collect", session_scope="single")
    await chat.say("one")
    await chat.say("two", sender_id="u2", sender_name="Bob")
    await chat.say("three", sender_id="u3", sender_name="Cid")
    await finish(chat)

    assert chat.prompted[1] == "[Bob] two\n\n[Cid] three"


async def test_pictures_of_collected_messages_are_not_lost():
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    await chat.say("two", attachments=(PICTURE,))
    await chat.say("three", attachments=(PICTURE,))
    await finish(chat)

    assert len(chat.bridge.prompts[1].images) == 2


async def test_collected_messages_of_two_chats_are_answered_each_in_its_own():
    chat = scene(dispatch_mode="collect", session_scope="single")
    await chat.say("one", chat_id="c1")
    await chat.say("two", chat_id="c1")
    await chat.say("three", chat_id="c2")
    await finish(chat)
    await finish(chat, "to both")
    await settle()
    if not chat.bridge.prompts[-1].answer.done():
        await finish(chat, "to the other")

    assert {place for place, _, _ in chat.channel.sent} == {"c1", "c2"}


async def test_cancel_drops_what_was_collected(capsys):
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    await chat.say("two")
    await chat.say("/cancel")
    await finish(chat)

    assert chat.prompted == ["one"]
    told = capsys.readouterr()
    assert "dropped 1 buffered message(s)" in told.out + told.err


async def test_a_cancel_that_fails_keeps_what_was_collected():
    chat = scene(dispatch_mode="collect")
    chat.bridge.refuses_cancel = True
    await chat.say("one")
    await chat.say("two")
    await chat.say("/cancel")
    await finish(chat)

    assert chat.prompted == ["one", "two"]


async def test_clear_drops_what_was_collected():
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    await chat.say("two")
    await chat.say("/clear")
    await finish(chat)

    assert chat.prompted == ["one"]


async def test_steer_leaves_no_trace_in_collect_mode():
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    await chat.say("two")

    assert chat.bridge.cancelled == []
    assert chat.types == ["started"]


async def test_a_message_too_many_is_refused_and_its_sender_told():
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    for n in range(21):
        await chat.say(f"message {n}")

    assert chat.texts == [BUSY]
    await finish(chat)
    assert chat.prompted[1].count("message") == 20


async def test_too_much_text_is_refused_and_its_sender_told():
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    await chat.say("x" * 4000)
    await chat.say("y" * 97)

    assert chat.texts == [BUSY]


async def test_collected_messages_whose_turn_fails_are_told_in_the_log(capsys):
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    await chat.say("two")
    await finish(chat)
    chat.bridge.fail("broken")
    await settle()

    told = capsys.readouterr()
    assert "lost 1 collected message(s)" in told.out + told.err


async def test_a_message_that_comes_while_the_session_is_opened_chains_behind_whatever_the_mode():
    chat = scene()
    chat.bridge.openings = []
    await chat.say("one")
    await chat.say("two")
    chat.bridge.openings[0].set_result("s1")
    await settle()
    assert chat.prompted == ["one"]
    await finish(chat)

    assert chat.prompted == ["one", "two"]
    assert "cancelled" not in chat.types


async def test_the_mode_of_a_group_wins_over_the_channel_s():
    from channels.config import GroupConfig

    chat = scene(
        dispatch_mode="steer",
        session_scope="thread",
        group_policy="open",
        groups={"c1": GroupConfig(dispatch_mode="followup")},
    )
    await chat.say("one", is_group=True, is_mentioned=True)
    await chat.say("two", is_group=True, is_mentioned=True)

    assert "cancelled" not in chat.types


async def test_a_group_without_a_mode_has_the_channel_s_and_not_that_of_all_groups():
    from channels.config import GroupConfig

    chat = scene(
        dispatch_mode="followup",
        session_scope="thread",
        group_policy="open",
        groups={"c1": GroupConfig(), "*": GroupConfig(dispatch_mode="steer")},
    )
    await chat.say("one", is_group=True, is_mentioned=True)
    await chat.say("two", is_group=True, is_mentioned=True)

    assert "cancelled" not in chat.types


async def test_one_long_message_is_collected_however_long_it_is():
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    await chat.say("x" * 5000)
    await finish(chat)

    assert chat.prompted == ["one", "x" * 5000]


async def test_collected_messages_whose_turn_fails_are_told_in_the_chat():
    chat = scene(dispatch_mode="collect")
    await chat.say("one")
    await chat.say("two")
    await finish(chat)
    chat.bridge.fail("broken")
    await settle()

    assert chat.texts[-1] == "Sorry, that failed: broken"


async def test_a_message_that_comes_while_an_empty_answer_is_noted_gets_no_note():
    chat = scene()
    noting = asyncio.Event()
    end = chat.ledger.end

    async def slow_end(turn, terminal, *, reason=None):
        await noting.wait()
        return await end(turn, terminal, reason=reason)

    chat.ledger.end = slow_end
    await chat.say("one")
    await finish(chat, "")
    await chat.say("two")
    noting.set()
    await settle()

    assert chat.prompted == ["one", "two"]
    assert chat.types == ["started", "completed", "started"]


async def test_nothing_is_kept_of_sessions_that_nobody_is_routed_to():
    chat = scene()
    for _ in range(3):
        await chat.say("hello")
        await chat.say("/clear")
        chat.bridge.answer("late")
        await settle()
        await chat.say("hello")
        chat.bridge.die(chat.bridge.sessions[-1])
        await settle()

    assert chat.channel._engine.workings.lines._by_id == {}
