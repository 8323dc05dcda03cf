"""A Telegram channel against the fake Bot API, with an agent and a clock that the test drives."""

from functools import partial

from tests.support.channels.adapter_scene import AdapterScene, adapter_scene, open_config
from tests.support.channels.fake_telegram import TOKEN, fake_telegram

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
    return open_config("telegram", TOKEN, extra=extra, **config)


telegram_scene = partial(adapter_scene, TelegramScene, fake_telegram, telegram_config)


def mention(text, name="@LaneBot"):
    """A message's text with the entity that names somebody in it."""
    before = text.partition(name)[0]
    offset = len(before.encode("utf-16-le")) // 2
    return {"text": text, "entities": [{"type": "mention", "offset": offset, "length": len(name)}]}
