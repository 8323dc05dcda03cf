"""What comes with messages to Telegram, over real HTTP."""

import base64
import os

import pytest

from channels.files import KEPT_MS
from core import clock
from tests.support.channels.fake_telegram import HANG, RESET, refusal
from tests.support.channels.scene import StubbornPairing
from tests.support.channels.telegram_scene import GROUP, telegram_scene

LIMIT = 20 * 1024 * 1024
PHOTO = [
    {"file_id": "small", "file_unique_id": "s", "width": 90, "height": 90, "file_size": 3},
    {"file_id": "large", "file_unique_id": "l", "width": 1280, "height": 1280, "file_size": 5},
]


def document(name, *, file_id="doc", size=4):
    return {
        "file_id": file_id,
        "file_unique_id": file_id,
        "file_name": name,
        "mime_type": "text/plain",
        "file_size": size,
    }


async def test_of_a_picture_the_largest_size_reaches_the_agent():
    async with telegram_scene() as scene:
        scene.fake.files |= {"small": b"tiny", "large": b"large"}
        scene.fake.write(photo=PHOTO, caption="what is this?")
        prompt = await scene.bridge.prompted()

        assert prompt.text == "what is this?"
        assert [base64.b64decode(image.data) for image in prompt.images] == [b"large"]
        assert prompt.images[0].mime_type == "image/jpeg"


async def test_the_pictures_of_an_album_reach_the_agent_together():
    async with telegram_scene(connected=False) as scene:
        scene.fake.files |= {"one": b"1", "two": b"2"}
        for number, file_id in enumerate(("one", "two")):
            photo = [{"file_id": file_id, "file_unique_id": file_id, "width": 9, "height": 9}]
            words = {"caption": "compare"} if number == 1 else {}
            scene.fake.write(photo=photo, media_group_id="album", **words)
        await scene.start()
        prompt = await scene.bridge.prompted()

        assert prompt.text == "compare"
        assert [base64.b64decode(image.data) for image in prompt.images] == [b"1", b"2"]


async def test_a_document_is_saved_in_a_folder_of_its_message(tmp_path):
    async with telegram_scene(folder=tmp_path) as scene:
        scene.fake.files["doc"] = b"data"
        scene.fake.write(document=document("notes.txt"), caption="read this", message_id=33)
        prompt = await scene.bridge.prompted()

        saved = tmp_path / "7-33" / "notes.txt"
        assert saved.read_bytes() == b"data"
        assert saved.stat().st_mode & 0o777 == 0o600
        assert prompt.text == f'read this\n\n[file "notes.txt" saved to: {saved}]'


@pytest.mark.parametrize(
    "name", ["../../evil.txt", "/etc/evil.txt", "..\\..\\evil.txt", "C:\\evil.txt", "evil.txt"]
)
async def test_of_a_document_s_name_only_the_last_part_counts(tmp_path, name):
    async with telegram_scene(folder=tmp_path / "files") as scene:
        scene.fake.files["doc"] = b"data"
        scene.fake.write(document=document(name), message_id=33)
        await scene.stored()

        assert [path for path in tmp_path.rglob("*") if path.is_file()] == [
            tmp_path / "files" / "7-33" / "evil.txt"
        ]


async def test_a_recording_is_saved_too(tmp_path):
    async with telegram_scene(folder=tmp_path) as scene:
        scene.fake.files["rec"] = b"ogg"
        voice = {"file_id": "rec", "file_unique_id": "rec", "duration": 3, "mime_type": "audio/ogg"}
        scene.fake.write(voice=voice, message_id=33)
        (attachment,) = (await scene.stored()).attachments

        assert attachment.type == "audio"
        assert attachment.file_path == str(tmp_path / "7-33" / "voice.ogg")


async def test_a_document_that_is_too_large_is_told_to_its_sender_and_to_the_agent(tmp_path):
    async with telegram_scene(folder=tmp_path) as scene:
        scene.fake.write(document=document("film.mkv", size=LIMIT + 1), caption="see this")
        told = await scene.sent()
        prompt = await scene.bridge.prompted()

        assert "“film.mkv” is larger than 20 MB" in told.text
        assert "film.mkv” is larger than 20 MB" in prompt.text
        assert prompt.text.startswith("see this")
        assert scene.fake.called("getFile") == []


async def test_a_document_that_telegram_calls_too_large_is_told_as_that(tmp_path):
    async with telegram_scene(folder=tmp_path) as scene:
        scene.fake.fail("getFile", refusal(400, "Bad Request: file is too big"))
        scene.fake.write(document=document("film.mkv"))

        assert "is larger than 20 MB" in (await scene.sent()).text
        assert scene.inbox.stored == []


@pytest.mark.parametrize("fault", [RESET, refusal(500, "Internal Server Error")])
async def test_a_document_that_can_t_be_fetched_is_told_and_its_message_answered(tmp_path, fault):
    async with telegram_scene(folder=tmp_path) as scene:
        scene.fake.fail("getFile", fault)
        scene.fake.write(document=document("notes.txt"), caption="read this")

        assert "could not be fetched" in (await scene.sent()).text
        assert (await scene.bridge.prompted()).text.startswith("read this")


async def test_a_download_that_hangs_does_not_hold_up_the_messages_behind_it(tmp_path):
    async with telegram_scene(folder=tmp_path) as scene:
        scene.fake.files["doc"] = b"data"
        scene.fake.fail("file", HANG)
        scene.fake.write(document=document("notes.txt"))
        await scene.facts.until(lambda: scene.fake.called("file"))
        scene.timers.pass_ms(await scene.timers.until_paused(60_000, 60_000))
        scene.fake.write("hello")

        assert (await scene.stored()).text == "hello"


async def test_nothing_is_fetched_for_a_stranger_or_of_what_is_not_for_the_bot(tmp_path):
    async with telegram_scene(
        folder=tmp_path, sender_policy="pairing", pairing=StubbornPairing("8")
    ) as scene:
        friend = {"id": 8, "is_bot": False, "first_name": "Bea"}
        scene.fake.write(document=document("a.txt"))
        scene.fake.write(chat=GROUP, document=document("b.txt"), **{"from": friend})
        scene.fake.write("hello", **{"from": friend})
        await scene.facts.until(lambda: any(one.text == "hello" for one in scene.inbox.stored))

        assert scene.fake.called("getFile") == []


async def test_without_a_folder_documents_are_declined_and_pictures_taken():
    async with telegram_scene() as scene:
        scene.fake.files["large"] = b"large"
        scene.fake.write(document=document("notes.txt"))
        assert "can't be taken here" in (await scene.sent()).text
        scene.fake.write(photo=PHOTO)

        assert len((await scene.bridge.prompted()).images) == 1


async def test_files_are_kept_for_a_week(tmp_path):
    long_ago_s = (clock.wall_ms() - KEPT_MS) / 1000 - 1
    for name in ("7-1", "7-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old.txt").touch()
    os.utime(tmp_path / "7-1", (long_ago_s, long_ago_s))
    async with telegram_scene(folder=tmp_path) as scene:
        scene.fake.files["doc"] = b"data"
        scene.fake.write(document=document("notes.txt"), message_id=33)
        await scene.stored()

        assert sorted(path.name for path in tmp_path.iterdir()) == ["7-2", "7-33"]


async def test_a_document_that_can_t_be_saved_is_told(tmp_path):
    (tmp_path / "files").touch()
    async with telegram_scene(folder=tmp_path / "files") as scene:
        scene.fake.files["doc"] = b"data"
        scene.fake.write(document=document("notes.txt"))

        assert "can't be taken here" in (await scene.sent()).text
