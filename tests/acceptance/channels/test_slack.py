"""Slack with a real agent, by Socket Mode and by the Events API: only the chat service is made up."""

import asyncio
import json
import os
import signal
import sys
from contextlib import asynccontextmanager

import httpx2
import pytest

from acp_bridge.chat.bridge import open_chat_bridge
from channels.adapters.slack.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign
from channels.delivering import REPEAT_NOTE
from core.clock import wall_ms
from tests.support.agent_child import child_environment
from tests.support.channels.fake_slack import (
    APP_TOKEN,
    BOT,
    BOT_TOKEN,
    HANG,
    RESET,
    Refused,
    fake_slack,
)
from tests.support.channels.slack_scene import CHANNEL, slack_scene
from tests.support.child_processes import channels_process
from tests.support.memlane_up import running_memlane
from tests.support.scripted_model import says, scripted_model

AGENT = [sys.executable, "-P", "-m", "memlane", "agent"]
SECRET = "signing-s3cret"
MENTION = {"type": "app_mention", "channel": "C1", "user": "U1", "text": "<@UBOT> /who", "ts": "5.5"}
LONG = "\n\n".join(
    f"**Step {n}:** run `make step-{n}` & wait.\n\n- first\n- second\n\n```sh\nmake step-{n}\n```"
    for n in range(140)
)


@asynccontextmanager
async def agent_in_slack(memory_base, *answers):
    with scripted_model([says(answer) for answer in answers]) as model:
        bridge = open_chat_bridge(
            command=AGENT, environment=child_environment(memory_base.path, model.settings), idle_s=60
        )
        try:
            async with slack_scene(bridge=bridge, cwd=str(memory_base.workspace)) as scene:
                yield scene, model
        finally:
            await bridge.close()


async def test_a_mention_is_answered_once_in_its_thread_whatever_happens_on_the_way(memory_base):
    async with agent_in_slack(memory_base, "**Green** tea.") as (scene, model):
        scene.fake.fail("chat.postMessage", Refused("ratelimited", 429, retry_after="9"))
        scene.fake.fail("apps.connections.open", RESET)
        await scene.fake.drop()
        for _ in range(2):
            scene.timers.pass_ms(await scene.timers.until_paused(500, 2_000))
        await scene.connected(2)
        told = {"channel": "C1", "user": "U1", "text": "<@UBOT> which tea?", "ts": "5.5"}
        await scene.fake.tell(told | {"type": "app_mention"})
        await scene.fake.tell(told | {"type": "message", "channel_type": "channel"})
        scene.timers.pass_ms(await scene.timers.until_paused(9_000, 9_000))
        sent = await scene.sent()

        assert (sent.chat_id, sent.thread_id, sent.text) == ("C1", "5.5", "*Green* tea.")
        assert "[U1] which tea?" in model.texts()["user"]
        assert scene.fake.unacknowledged == []
        assert len(scene.fake.posts) == 1


async def test_two_threads_are_two_talks(memory_base):
    async with agent_in_slack(memory_base, "One.", "Two.") as (scene, model):
        await scene.fake.write("<@UBOT> the first secret", thread_ts="1.0", **CHANNEL)
        await scene.sent()
        await scene.fake.write("<@UBOT> what did I say?", thread_ts="2.0", **CHANNEL)
        await scene.sent(2)

        assert [(one.thread_id, one.text) for one in scene.fake.posts] == [("1.0", "One."), ("2.0", "Two.")]
        assert "first secret" not in json.dumps(model.requests[-1])


async def test_a_long_answer_arrives_whole_in_its_thread_whatever_slack_answers_meanwhile(memory_base):
    assert len(LONG) > 10_000
    async with agent_in_slack(memory_base, LONG) as (scene, _):
        throttled = Refused("ratelimited", 429, retry_after="9")
        scene.fake.fail("chat.postMessage", RESET, Refused(None, 500), HANG, throttled)
        await scene.fake.write("<@UBOT> how do I release?", ts="5.5", **CHANNEL)
        for wait_ms in (1_000, 2_000):
            scene.timers.pass_ms(await scene.timers.until_paused(wait_ms, wait_ms))
        await scene.facts.until(lambda: len(scene.fake.called("chat.postMessage")) == 3)
        for wait_ms in (30_000, 4_000, 9_000):
            scene.timers.pass_ms(await scene.timers.until_paused(wait_ms, wait_ms))
        await scene.facts.until(lambda: "step-139" in "".join(scene.fake.texts[-1:]))

        assert {(one.chat_id, one.thread_id) for one in scene.fake.posts} == {("C1", "5.5")}
        assert [REPEAT_NOTE in text for text in scene.fake.texts].count(True) == 1
        assert all("".join(scene.fake.texts).count(f"*Step {n}:*") == 1 for n in range(140))


@pytest.mark.usefixtures("unmeasured")
async def test_an_event_that_slack_posts_to_the_service_is_answered_in_its_thread(tmp_path):
    async with fake_slack() as slack, service(tmp_path, slack) as running:
        statuses = [await asyncio.to_thread(post, running, event_id) for event_id in ("Ev1", "Ev1", "Ev2")]
        await slack.facts.until(lambda: slack.posts)

    assert statuses == [202, 200, 200]
    assert [(one.chat_id, one.thread_id) for one in slack.posts] == [("C1", "5.5")]
    assert "Channel: team" in slack.texts[0]


@pytest.mark.usefixtures("unmeasured")
async def test_what_was_not_stored_when_the_process_was_killed_is_answered_once_and_nothing_twice(tmp_path):
    async with fake_slack() as slack, service(tmp_path, slack, appToken=APP_TOKEN) as running:
        await slack.facts.until(lambda: slack.sockets)
        stored = await slack.tell(MENTION | {"user": "U2", "ts": "1.1"})
        await slack.facts.until(lambda: stored in slack.acknowledged)
        served_by = channels_process(running.process.pid)
        os.kill(served_by, signal.SIGSTOP)
        await slack.tell(MENTION, event_id="Ev90")
        os.kill(served_by, signal.SIGKILL)
        await slack.facts.until(lambda: slack.posts)
        statuses = [await asyncio.to_thread(post, running, event_id) for event_id in ("Ev90", "Ev91")]
        await slack.tell(MENTION | {"ts": "1.1"})
        await slack.tell(MENTION | {"text": "<@UBOT> /status", "ts": "1.2"})
        await slack.facts.until(lambda: len(slack.posts) > 1 and not slack.unacknowledged)

    assert statuses == [200, 200]
    assert [one.thread_id for one in slack.posts] == ["5.5", "1.2"]
    assert slack.texts[0].startswith("Channel: team")


@asynccontextmanager
async def service(folder, slack, **team):
    """A whole service, which starts and stops beside the event loop that the fake Slack needs."""
    told = {"type": "slack", "token": BOT_TOKEN, "clientSecret": SECRET, "apiUrl": f"{slack.url}/api"}
    let_in = {"allowedUsers": ["U1"], "groupPolicy": "open"}
    (folder / "home").mkdir()
    (folder / "home" / "channels.json").write_text(json.dumps({"channels": {"team": told | let_in | team}}))
    running = running_memlane(folder)
    started = await asyncio.to_thread(running.__enter__)
    try:
        yield started
    finally:
        await asyncio.to_thread(running.__exit__, None, None, None)


def post(running, event_id):
    authorizations = [{"user_id": BOT, "is_bot": True}]
    body = json.dumps({"event_id": event_id, "event": MENTION, "authorizations": authorizations}).encode()
    stamp = str(wall_ms() // 1000)
    headers = {
        "Content-Type": "application/json",
        TIMESTAMP_HEADER: stamp,
        SIGNATURE_HEADER: sign(SECRET, stamp, body),
    }
    return httpx2.post(f"{running.url}/channels/team/slack/events", content=body, headers=headers).status_code
