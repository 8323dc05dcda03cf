"""A process that talks to the fake Bot API with all logs switched on."""

import asyncio

from core.logs import configure_logs
from tests.support.channels.fake_telegram import RESET, refusal
from tests.support.channels.telegram_scene import telegram_scene


async def talk():
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("getUpdates", refusal(409, "Conflict"), RESET)
        await scene.start()
        scene.timers.pass_ms(await scene.timers.until_paused(5_000, 5_000))
        scene.timers.pass_ms(await scene.timers.until_paused(500, 1_000))
        scene.fake.write("a secret question")
        await scene.bridge.prompted()
        scene.fake.fail("sendMessage", RESET, refusal(400, "Bad Request: can't parse entities"))
        scene.bridge.answer("a secret answer")
        scene.timers.pass_ms(await scene.timers.until_paused(1_000, 1_000))
        await scene.sent()


if __name__ == "__main__":
    configure_logs("debug", process="channels")
    asyncio.run(talk())
