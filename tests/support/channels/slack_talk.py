"""A process that talks to the fake Slack with all logs switched on."""

import asyncio

from core.logs import configure_logs
from tests.support.channels.fake_slack import RESET, Refused
from tests.support.channels.slack_scene import slack_scene


async def talk():
    async with slack_scene() as scene:
        await scene.fake.drop()
        scene.timers.pass_ms(await scene.timers.until_paused(500, 1_000))
        await scene.connected(2)
        await scene.fake.write("a secret question")
        await scene.bridge.prompted()
        scene.fake.fail("chat.postMessage", RESET, "{", Refused("msg_too_long"))
        scene.bridge.answer("a secret answer " * 20)
        scene.timers.pass_ms(await scene.timers.until_paused(1_000, 1_000))
        scene.timers.pass_ms(await scene.timers.until_paused(2_000, 2_000))
        await scene.sent(2)


if __name__ == "__main__":
    configure_logs("debug", process="channels")
    asyncio.run(talk())
