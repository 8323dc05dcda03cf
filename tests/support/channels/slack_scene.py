"""A Slack channel against the fake Slack, with an agent and a clock that the test drives."""

from contextlib import asynccontextmanager
from typing import Any

from pydantic import SecretStr

from channels.config import ChannelConfig, GroupConfig
from tests.support.channels.adapter_scene import AdapterScene
from tests.support.channels.facts import Facts
from tests.support.channels.fake_slack import APP_TOKEN, BOT_TOKEN, fake_slack
from tests.support.channels.scene import StubbornPairing

CHANNEL = {"channel": "C1", "channel_type": "channel"}


class SlackScene(AdapterScene):
    """A Slack channel."""

    async def begin(self):
        """Connect, as far as Slack lets it."""
        await super().start()

    async def start(self):
        """Connect, and wait for the connection that events come over, if there is to be one."""
        await self.begin()
        if self.config.extra["appToken"] is not None:
            await self.facts.until(lambda: self.fake.sockets)

    async def sent(self, number=1):
        """Wait until so many messages were posted, and return that one."""
        await self.facts.until(lambda: len(self.fake.posts) >= number)
        return self.fake.posts[number - 1]

    async def connected(self, number):
        """Wait until so many connections were opened, and the last one is open."""
        await self.facts.until(lambda: self.fake.connections >= number and self.fake.sockets)

    async def acknowledged(self, envelope_id):
        """Wait until Slack was told that an event was taken."""
        await self.facts.until(lambda: envelope_id in self.fake.acknowledged)


def slack_config(url, **config):
    extra = {"apiUrl": f"{url}/api", "appToken": SecretStr(APP_TOKEN)} | config.pop("extra", {})
    settings: dict[str, Any] = {
        "name": "team",
        "type": "slack",
        "cwd": "/srv/work",
        "token": SecretStr(BOT_TOKEN),
        "sender_policy": "open",
        "session_scope": "thread",
        "group_policy": "open",
        "groups": {"*": GroupConfig()},
    }
    return ChannelConfig(**(settings | config), extra=extra)


@asynccontextmanager
async def slack_scene(*, folder=None, connected=True, pairing=None, bridge=None, **config):
    """A channel that everybody may use, unless told otherwise; its agent is scripted, unless one is given."""
    facts = Facts()
    async with fake_slack(facts) as fake:
        scene = SlackScene(
            facts,
            fake,
            slack_config(fake.url, **config),
            folder=folder,
            pairing=pairing or StubbornPairing(),
            bridge=bridge,
        )
        try:
            if connected:
                await scene.start()
            yield scene
        finally:
            await scene.stop()
