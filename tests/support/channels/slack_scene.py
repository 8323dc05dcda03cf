"""A Slack channel against the fake Slack, with an agent and a clock that the test drives."""

from functools import partial

from pydantic import SecretStr

from tests.support.channels.adapter_scene import AdapterScene, adapter_scene, open_config
from tests.support.channels.fake_slack import APP_TOKEN, BOT_TOKEN, fake_slack

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

    async def pauses(self, number, *, at_most_ms=1_000):
        """Wait until so many wait for a little while."""

        def short():
            return [delay_ms for delay_ms in self.timers.delays_ms if delay_ms <= at_most_ms]

        await self.facts.until(lambda: len(short()) >= number)

    async def acknowledged(self, envelope_id):
        """Wait until Slack was told that an event was taken."""
        await self.facts.until(lambda: envelope_id in self.fake.acknowledged)


def slack_config(url, **config):
    extra = {"apiUrl": f"{url}/api", "appToken": SecretStr(APP_TOKEN)} | config.pop("extra", {})
    return open_config("slack", BOT_TOKEN, extra=extra, **({"session_scope": "thread"} | config))


slack_scene = partial(adapter_scene, SlackScene, fake_slack, slack_config)
