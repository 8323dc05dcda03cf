"""What comes with messages to Slack, over real HTTP."""

import base64

import pytest

from channels.files import MAX_FILE_BYTES
from tests.support.channels.fake_slack import BOT_TOKEN, HANG, RESET, Moved, Refused
from tests.support.channels.scene import StubbornPairing
from tests.support.channels.slack_scene import CHANNEL, slack_scene


def shared(scene, name="notes.txt", *, url=None, size=4, mimetype="text/plain"):
    address = url or f"{scene.fake.url}/files/{name}"
    file = {"name": name, "mimetype": mimetype, "size": size, "url_private_download": address}
    return {"subtype": "file_share", "files": [file]}


async def test_a_picture_reaches_the_agent():
    async with slack_scene() as scene:
        scene.fake.files["tea.png"] = b"png"
        await scene.fake.write("which?", **shared(scene, "tea.png", mimetype="image/png"))
        prompt = await scene.bridge.prompted()

        assert prompt.text == "which?"
        assert [base64.b64decode(image.data) for image in prompt.images] == [b"png"]
        assert scene.fake.called("file") == [{"token": f"Bearer {BOT_TOKEN}"}]


async def test_a_document_is_saved_in_a_folder_of_its_message(tmp_path):
    async with slack_scene(folder=tmp_path) as scene:
        scene.fake.files["notes.txt"] = b"data"
        await scene.fake.write("read this", ts="33.5", **shared(scene))
        prompt = await scene.bridge.prompted()

        saved = tmp_path / "D1-33.5" / "notes.txt"
        assert saved.read_bytes() == b"data"
        assert prompt.text == f'read this\n\n[file "notes.txt" saved to: {saved}]'


@pytest.mark.parametrize(
    "url",
    [
        "https://slack.com.evil.example/files/notes.txt",
        "https://evilslack.com/notes.txt",
        "http://files.slack.com/notes.txt",
        "file:///etc/passwd",
        "https://[",
        "",
    ],
)
async def test_nobody_but_slack_is_shown_the_token(tmp_path, url):
    async with slack_scene(folder=tmp_path) as scene:
        message = shared(scene)
        message["files"][0]["url_private_download"] = url
        await scene.fake.write("read this", **message)

        assert "could not be fetched" in (await scene.sent()).text
        assert (await scene.bridge.prompted()).text.startswith("read this")


@pytest.mark.parametrize("fault", [RESET, Refused("oops", 500), Refused(None, 200)])
async def test_a_document_that_can_t_be_fetched_is_told_and_its_message_answered(tmp_path, fault):
    async with slack_scene(folder=tmp_path) as scene:
        scene.fake.fail("file", fault)
        await scene.fake.write("read this", **shared(scene))

        assert "could not be fetched" in (await scene.sent()).text
        assert (await scene.bridge.prompted()).text.startswith("read this")


async def test_a_page_to_which_slack_sends_who_asks_is_not_taken_for_the_file(tmp_path):
    async with slack_scene(folder=tmp_path) as scene:
        scene.fake.fail("file", Moved("other.txt"))
        scene.fake.files["other.txt"] = b"Log in."
        await scene.fake.write("read this", **shared(scene))

        assert "could not be fetched" in (await scene.sent()).text


async def test_a_page_that_somebody_wrote_is_a_file_like_others(tmp_path):
    async with slack_scene(folder=tmp_path) as scene:
        scene.fake.fail("file", Refused(None, 200))
        await scene.fake.write("read this", ts="33.5", **shared(scene, "a.html", mimetype="text/html"))

        assert "saved to" in (await scene.bridge.prompted()).text
        assert (tmp_path / "D1-33.5" / "a.html").read_bytes() == b"<h1>Oops</h1>"


@pytest.mark.parametrize("told", [MAX_FILE_BYTES + 1, 4])
async def test_a_document_that_is_too_large_is_told_whatever_slack_said_before(tmp_path, told):
    async with slack_scene(folder=tmp_path) as scene:
        scene.fake.files["notes.txt"] = bytes(MAX_FILE_BYTES + 1)
        await scene.fake.write("read this", **shared(scene, size=told))

        assert "is larger than 20 MB" in (await scene.sent()).text
        assert not list(tmp_path.iterdir())


async def test_a_download_that_hangs_does_not_hold_up_the_messages_behind_it_for_ever(tmp_path):
    async with slack_scene(folder=tmp_path) as scene:
        scene.fake.fail("file", HANG)
        await scene.fake.write("read this", **shared(scene))
        await scene.facts.until(lambda: scene.fake.called("file"))
        scene.timers.pass_ms(await scene.timers.until_paused(60_000, 60_000))
        await scene.fake.write("hello")

        assert (await scene.stored(2)).text == "hello"


async def test_nothing_is_fetched_for_a_stranger_or_of_what_is_not_for_the_bot(tmp_path):
    async with slack_scene(folder=tmp_path, sender_policy="pairing", pairing=StubbornPairing("U8")) as scene:
        await scene.fake.write("", **shared(scene))
        await scene.fake.write("", user="U8", **CHANNEL, **shared(scene))
        await scene.acknowledged(await scene.fake.write("hello", user="U8"))

        assert scene.fake.called("file") == []
