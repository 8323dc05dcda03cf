"""Slack with a real agent, by Socket Mode and by the Events API: only the chat service is made up."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import httpx2
import pytest

from acp_bridge.chat.bridge import open_chat_bridge
from channels.adapters.slack.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign
from core.clock import wall_ms
from tests.support.agent_child import child_environment
from tests.support.channels.fake_slack import BOT, BOT_TOKEN, RESET, Refused, fake_slack
from tests.support.channels.slack_scene import CHANNEL, slack_scene
from tests.support.memlane_up import running_memlane
from tests.support.scripted_model import says, scripted_model

AGENT = [sys.executable, "-P", "-m", "memlane", "agent"]
SECRET = "signing-s3cret"


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


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


@pytest.mark.usefixtures("unmeasured")
async def test_an_event_that_slack_posts_to_the_service_is_answered_in_its_thread(tmp_path):
    async with fake_slack() as slack:
        team = {
            "type": "slack",
            "token": BOT_TOKEN,
            "clientSecret": SECRET,
            "apiUrl": f"{slack.url}/api",
            "allowedUsers": ["U1"],
            "groupPolicy": "open",
        }
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "channels.json").write_text(json.dumps({"channels": {"team": team}}))
        async with service(tmp_path) as url:
            statuses = [await asyncio.to_thread(post, url, event_id) for event_id in ("Ev1", "Ev1", "Ev2")]
            await slack.facts.until(lambda: slack.posts)

    assert statuses == [202, 200, 200]
    assert [(one.chat_id, one.thread_id) for one in slack.posts] == [("C1", "5.5")]
    assert "Channel: team" in slack.texts[0]


@asynccontextmanager
async def service(folder):
    """A whole service, which starts and stops beside the event loop that the fake Slack needs."""
    running = running_memlane(folder)
    started = await asyncio.to_thread(running.__enter__)
    try:
        yield started.url
    finally:
        await asyncio.to_thread(running.__exit__, None, None, None)


def post(url, event_id):
    event = {"type": "app_mention", "channel": "C1", "user": "U1", "text": "<@UBOT> /who", "ts": "5.5"}
    authorizations = [{"user_id": BOT, "is_bot": True}]
    body = json.dumps({"event_id": event_id, "event": event, "authorizations": authorizations}).encode()
    stamp = str(wall_ms() // 1000)
    headers = {
        "Content-Type": "application/json",
        TIMESTAMP_HEADER: stamp,
        SIGNATURE_HEADER: sign(SECRET, stamp, body),
    }
    return httpx2.post(f"{url}/channels/team/slack/events", content=body, headers=headers).status_code
