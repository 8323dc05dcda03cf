"""Commands that a channel answers itself: design page "Channel layer", 2.4 and 3."""

from channels.config import ChannelIdentityConfig, ChannelMemoryScopeConfig
from core.chat import AgentCommand
from tests.support.channels.scene import scene, settle

LABELS = {
    "identity": ChannelIdentityConfig("bot-1", 'The "Bot"', None),
    "memory_scope": ChannelMemoryScopeConfig("team/x"),
}


async def answer_to(text, *, settings=None, **facts):
    chat = scene(**({"group_policy": "open"} | (settings or {})))
    await chat.say(text, **facts)
    return chat.texts[-1]


async def test_help_lists_what_can_be_asked():
    text = await answer_to("/help")

    assert all(f"/{name}" in text for name in ("help", "clear", "reset", "new", "who", "status", "cancel"))


async def test_help_in_a_shared_session_tells_how_to_clear_it():
    assert "/clear confirm" in await answer_to("/help", settings={"session_scope": "single"})
    assert "/clear confirm" not in await answer_to("/help")


async def test_help_lists_the_adapter_s_and_the_agent_s_commands():
    chat = scene()

    async def ping(_envelope, _rest):
        return True

    chat.channel.register_command("Ping", ping)
    chat.bridge.known_commands = (AgentCommand("init", 'make "it"\nnow'),)
    await chat.say("/help")

    assert "/ping" in chat.texts[0]
    assert "/init - make  it  now" in chat.texts[0]


async def test_commands_are_taken_whatever_their_case_and_with_the_bot_s_name():
    assert "Channel: chat" in await answer_to("/WHO@my_bot")


async def test_an_unknown_command_goes_to_the_agent():
    chat = scene()
    await chat.say("/unknown x")

    assert chat.prompted == ["/unknown x"]


async def test_a_command_whose_handler_declines_goes_to_the_agent():
    chat = scene()

    async def decline(_envelope, rest):
        return rest == "mine"

    chat.channel.register_command("ping", decline)
    await chat.say("/ping other")
    await chat.say("/ping mine")

    assert chat.prompted == ["/ping other"]


async def test_commands_tell_no_events_and_open_no_session():
    chat = scene()
    for text in ("/help", "/who", "/status", "/cancel", "/clear"):
        await chat.say(text)

    assert chat.types == []
    assert chat.bridge.sessions == []


async def test_who_tells_where_one_is():
    assert await answer_to("/who") == "Channel: chat\nWorkspace: work\nSession: none"


async def test_who_tells_identity_and_memory_only_when_they_are_configured():
    expected = "Channel: chat\nIdentity: The  Bot \nMemory: team/x\nWorkspace: work\nSession: none"

    assert await answer_to("/who", settings=LABELS) == expected


async def test_an_identity_alone_shows_the_memory_that_follows_from_it():
    text = await answer_to("/who", settings={"identity": ChannelIdentityConfig("bot-1")})

    assert "Identity: chat\nMemory: channel:chat" in text


async def test_who_never_tells_the_path_of_the_workspace():
    assert "/srv" not in await answer_to("/who")


async def test_who_tells_who_shares_the_session():
    group = {"is_group": True, "is_mentioned": True}

    assert (await answer_to("/who", settings={"session_scope": "single"})).endswith(" (shared channel-wide)")
    assert (await answer_to("/who", settings={"session_scope": "thread"}, **group)).endswith(
        "none (shared by this group)"
    )
    assert (await answer_to("/who", **group)).endswith("none (private to you)")


async def test_who_knows_an_active_session():
    chat = scene()
    await chat.say("hello")
    chat.bridge.answer("x")
    await settle()
    await chat.say("/who")

    assert chat.texts[-1].endswith("Session: active")


async def test_status_tells_how_things_are():
    assert await answer_to("/status") == "Session: none\nAccess: open\nChannel: chat"
    assert await answer_to("/status", settings=LABELS) == (
        "Session: none\nAccess: open\nChannel: chat\nIdentity: bot-1\nMemory: metadata-only"
    )


async def test_commands_of_a_shared_session_are_for_those_who_are_listed():
    settings = {"session_scope": "single", "allowed_users": ("boss",)} | LABELS
    for command in ("/who", "/status", "/clear confirm", "/reset confirm", "/new confirm", "/cancel"):
        text = await answer_to(command, settings=settings, sender_id="u2")

        assert "authorized" in text
        assert "bot-1" not in text
        assert "team" not in text


async def test_a_reply_to_a_stored_message_is_not_sent_twice():
    chat = scene()
    message = chat.message("/who", receipts=("r1",))
    await chat.channel.handle_inbound(message)
    await chat.channel.close()
    sent = list(chat.texts)
    chat.open()
    await chat.channel.handle_inbound(message)

    assert len(sent) == 1
    assert chat.texts == []
