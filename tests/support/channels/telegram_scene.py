"""A Telegram channel against the fake Bot API, with an agent and a clock that the test drives."""

from contextlib import asynccontextmanager
from typing import Any

from pydantic import SecretStr

from channels.config import ChannelConfig, GroupConfig
from tests.support.channels.adapter_scene import AdapterScene
from tests.support.channels.facts import Facts
from tests.support.channels.fake_telegram import TOKEN, fake_telegram
from tests.support.channels.scene import StubbornPairing

GROUP = {"id": -100500, "type": "supergroup", "title": "Team", "is_forum": True}


class TelegramScene(AdapterScene):
    """A Telegram channel."""

    async def sent(self, number=1):
        """Wait until so many messages were sent, and return the last."""
        await self.facts.until(lambda: len(self.fake.sent) >= number)
        return self.fake.sent[number - 1]

    async def polls(self, number):
        """Wait until Telegram was asked for updates so often, and the last one is open or answered."""
        await self.facts.until(lambda: len(self.fake.called("getUpdates")) >= number)


def telegram_config(url, **config):
    extra = {"apiUrl": url, "pollTimeout": 20} | config.pop("extra", {})
    settings: dict[str, Any] = {
        "name": "team",
        "type": "telegram",
        "cwd": "/srv/work",
        "token": SecretStr(TOKEN),
        "sender_policy": "open",
        "group_policy": "open",
        "groups": {"*": GroupConfig()},
    }
    return ChannelConfig(**(settings | config), extra=extra)


@asynccontextmanager
async def telegram_scene(*, folder=None, connected=True, pairing=None, bridge=None, **config):
    """A channel that everybody may use, unless told otherwise; its agent is scripted, unless one is given."""
    facts = Facts()
    async with fake_telegram(facts) as fake:
        scene = TelegramScene(
            facts,
            fake,
            telegram_config(fake.url, **config),
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


def mention(text, name="@LaneBot"):
    """A message's text with the entity that names somebody in it."""
    before = text.partition(name)[0]
    offset = len(before.encode("utf-16-le")) // 2
    return {"text": text, "entities": [{"type": "mention", "offset": offset, "length": len(name)}]}
