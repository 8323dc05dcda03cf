"""What the agent is sent of a message: design page "Channel layer", 2.4 and 2.6."""

import pytest

from channels.command_text import ParsedCommand, first_token, is_command_shaped, parse_command
from channels.envelope import Attachment
from core.chat import AgentCommand
from tests.support.channels.scene import scene

PICTURE = Attachment(type="image", mime_type="image/png", data="aGk=")


async def prompted(text, *, settings=None, commands=(), **facts):
    chat = scene(**({"group_policy": "open"} | (settings or {})))
    chat.bridge.known_commands = commands
    await chat.say(text, **facts)
    return chat.bridge.prompts[0]


async def in_group(text, **facts):
    return (await prompted(text, is_group=True, is_mentioned=True, **facts)).text


async def test_a_message_that_says_nothing_asks_nothing_of_the_agent():
    chat = scene()
    message = await chat.say(" \n")

    assert message.done()
    assert (chat.prompted, chat.texts, chat.types) == ([], [], [])


async def test_a_private_message_reaches_the_agent_as_it_was_written():
    assert (await prompted("[x] a\u202e\nb")).text == "[x] a\u202e\nb"


async def test_a_message_of_a_group_names_its_sender():
    assert await in_group("hello", sender_name="Bob") == "[Bob] hello"


async def test_a_sender_without_a_name_is_named_by_the_id():
    assert await in_group("hello", sender_name="[]", sender_id="u7") == "[u7] hello"


async def test_a_private_message_to_a_session_of_all_names_its_sender():
    prompt = await prompted("hello", settings={"session_scope": "single"})

    assert prompt.text == "[Ann] hello"


async def test_a_message_that_names_its_sender_already_gets_no_second_tag():
    assert await in_group("[Bob] hello", already_prefixed=True) == "[Bob] hello"


async def test_a_command_of_the_agent_reaches_it_as_it_is():
    commands = (AgentCommand("init", aliases=("i",)),)

    assert await in_group("/init now", commands=commands) == "/init now"
    assert await in_group("/i now", commands=commands) == "/i now"


@pytest.mark.parametrize(
    "text", ["/Init now", "//init", "/*init", "/init@bot now", "/unknown", "/etc/passwd"]
)
async def test_what_is_no_command_of_the_agent_names_its_sender(text):
    assert (await in_group(text, commands=(AgentCommand("init"),))).startswith("[Ann] ")


async def test_a_quote_comes_before_the_text():
    prompt = await prompted("why?", referenced_text='he said "no" [sic]')

    assert prompt.text == '[Replying to: "he said  no   sic "]\n\nwhy?'


async def test_a_long_quote_is_cut():
    prompt = await prompted("why?", referenced_text="x" * 600)

    assert prompt.text.startswith('[Replying to: "' + "x" * 499 + '…"]')


async def test_saved_files_are_named_after_the_text():
    saved = Attachment(type="file", mime_type="text/plain", file_path="/srv/a b.txt", file_name='a "b".txt')
    prompt = await prompted("look", attachments=(saved,))

    assert prompt.text == 'look\n\n[file "a  b .txt" saved to: /srv/a b.txt]'


async def test_a_file_without_a_word_is_named_alone():
    saved = Attachment(type="audio", mime_type="audio/ogg", file_path="/srv/a.ogg")

    assert (await prompted("", attachments=(saved,))).text == "[audio saved to: /srv/a.ogg]"


async def test_all_pictures_go_along():
    saved = Attachment(type="image", mime_type="image/png", file_path="/srv/p.png")
    prompt = await prompted("look", attachments=(PICTURE, PICTURE, saved), image_base64="bGVnYWN5")

    assert [image.data for image in prompt.images] == ["bGVnYWN5", "aGk=", "aGk="]
    assert prompt.text == "look\n\n[image saved to: /srv/p.png]"


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("/help", "help", ""),
        ("  /Clear   Confirm ", "clear", "Confirm"),
        ("/help@my_bot please", "help", "please"),
        ("/a:b-c_d x\ny", "a:b-c_d", "x\ny"),
    ],
)
def test_commands_are_read_as_people_write_them(text, name, rest):
    assert parse_command(text) == ParsedCommand(name, rest)


@pytest.mark.parametrize("text", ["help", "/ help", "//help", "/*x", "", "/", "/hélp", "say /help"])
def test_other_text_is_no_command(text):
    assert parse_command(text) is None


def test_the_first_token_keeps_the_bot_s_name():
    assert first_token("/init@x now") == "init@x"
    assert is_command_shaped("/init@x now")
    assert first_token("no") == ""
    assert not is_command_shaped("/a/b")
