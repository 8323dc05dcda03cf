"""Of the sessions of a channel those that were used last are kept: design page "Channel layer", 2.5."""

from channels.router import MAX_ROUTES
from channels.routes import Route, RouteKey
from tests.support.channels.scene import scene, settle


async def test_of_too_many_sessions_the_one_that_was_used_longest_ago_is_forgotten(monkeypatch):
    monkeypatch.setattr("channels.router.MAX_ROUTES", 3)
    chat = scene(dispatch_mode="followup")

    async def session_of(sender):
        await chat.say("hello", sender_id=sender)
        chat.bridge.answer("hi")
        await settle()
        return chat.bridge.prompts[-1].session_id

    first = [await session_of(sender) for sender in ("a", "b", "c")]
    assert await session_of("a") == first[0]
    await session_of("d")

    assert await session_of("c") == first[2]
    assert await session_of("a") == first[0]
    assert await session_of("b") not in first
    assert {key[1] for key in await chat.routes.load()} == {"a", "b", "c"}


async def test_of_a_session_that_was_forgotten_nothing_is_left(monkeypatch):
    monkeypatch.setattr("channels.router.MAX_ROUTES", 1)
    chat = scene()
    for sender in ("a", "b"):
        await chat.say("hello", sender_id=sender)
        chat.bridge.answer("hi")
        await settle()
    lines = chat.channel._engine.workings.lines

    assert [lines.find(prompt.session_id) is None for prompt in chat.bridge.prompts] == [True, False]


async def test_an_answer_arrives_although_its_session_was_forgotten_meanwhile(monkeypatch):
    monkeypatch.setattr("channels.router.MAX_ROUTES", 1)
    chat = scene()
    for sender in ("a", "b"):
        await chat.say("hello", sender_id=sender, chat_id=sender)
    chat.bridge.answer("late", number=0)
    await settle()

    assert chat.channel.sent == [("a", None, "late")]


async def test_of_too_many_that_were_saved_the_last_ones_are_restored():
    chat = scene()
    target = chat.message("hello").target
    saved: dict[RouteKey, Route] = {
        ("chat", f"u{n}", "c1"): Route(f"s{n}", target, "/srv/work") for n in range(MAX_ROUTES + 1)
    }
    await chat.routes.save(saved)
    await chat.channel.recover()

    assert next(iter(await chat.routes.load())) == ("chat", "u1", "c1")
