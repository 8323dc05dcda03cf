"""A Telegram group, a real agent child, a scripted model: only the chat service and the model are made up."""

import sys
from contextlib import asynccontextmanager

import pytest

from acp_bridge.chat.bridge import open_chat_bridge
from channels.splitting import utf16_units
from tests.support.agent_child import child_environment
from tests.support.channels.fake_telegram import HANG, RESET, refusal
from tests.support.channels.telegram_scene import GROUP, mention, telegram_scene
from tests.support.scripted_model import says, scripted_model

AGENT = [sys.executable, "-P", "-m", "memlane", "agent"]
LONG = "\n\n".join(
    f"**Step {n}:** run `make step-{n}` and wait.\n\n- first\n- second\n\n```sh\nmake step-{n}\n```"
    for n in range(140)
)


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@asynccontextmanager
async def agent_in_telegram(memory_base, *answers, **facts):
    with scripted_model([says(answer) for answer in answers]) as model:
        bridge = open_chat_bridge(
            command=AGENT, environment=child_environment(memory_base.path, model.settings), idle_s=60
        )
        try:
            async with telegram_scene(bridge=bridge, cwd=str(memory_base.workspace), **facts) as scene:
                scene.fake.topics["-100500"] = {"42"}
                yield scene, model
        finally:
            await bridge.close()


def ask(scene, text):
    scene.fake.write(chat=GROUP, message_thread_id=42, is_topic_message=True, **mention(f"@LaneBot {text}"))


def without_blanks(text):
    return "".join(text.split())


async def test_a_mention_in_a_topic_is_answered_there_whole_however_long_the_answer(memory_base):
    assert len(LONG) > 10_000
    async with agent_in_telegram(memory_base, LONG) as (scene, model):
        ask(scene, "how do I release?")
        await scene.facts.until(lambda: "makestep-139" in without_blanks("".join(scene.fake.texts[-1:])))

        assert "[Ann] how do I release?" in model.texts()["user"]
        assert {(one.chat_id, one.thread_id) for one in scene.fake.sent} == {("-100500", "42")}
        assert all(utf16_units(text) <= 4096 for text in scene.fake.texts)
        arrived = without_blanks("".join(scene.fake.texts))
        assert all(f"Step{n}:runmakestep-{n}andwait.•first•secondmakestep-{n}" in arrived for n in range(140))


async def test_conflicts_throttling_hangs_and_resets_are_survived_on_the_way_in_and_out(memory_base):
    async with agent_in_telegram(memory_base, "**Green** tea.", connected=False) as (scene, _):
        conflict = refusal(409, "Conflict: terminated by other getUpdates request")
        scene.fake.fail("getUpdates", conflict, HANG, RESET, refusal(429, "Later", retry_after=7))
        throttled = refusal(429, "Too Many Requests", retry_after=9)
        scene.fake.fail("sendMessage", throttled, refusal(502, "Bad Gateway"))
        ask(scene, "which tea?")
        await scene.start()
        scene.timers.pass_ms(await scene.timers.until_paused(5_000, 5_000))
        await scene.polls(2)
        scene.timers.pass_ms(await scene.timers.until_paused(30_000, 30_000))
        for _ in range(2):
            scene.timers.pass_ms(await scene.timers.until_paused(500, 2_000))
        scene.timers.pass_ms(await scene.timers.until_paused(7_000, 7_000))
        scene.timers.pass_ms(await scene.timers.until_paused(9_000, 9_000))
        scene.timers.pass_ms(await scene.timers.until_paused(2_000, 2_000))
        sent = await scene.sent()

        assert (sent.thread_id, sent.text) == ("42", "Green tea.")
        assert len(scene.fake.sent) == 1
        assert scene.fake.most_polls_at_once == 1
        scene.fake.end_poll()
        await scene.healthy("connected")
