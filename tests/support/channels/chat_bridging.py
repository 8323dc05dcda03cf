"""A bridge to chatting children for one test, and an ear that remembers what it heard."""

import asyncio
import json
import os
from contextlib import asynccontextmanager

from acp_bridge.chat.bridge import open_chat_bridge
from acp_bridge.limits import Limits
from tests.support.channels.chat_child import command

LIMIT_S = 30


class Heard:
    """Remembers what it heard, and lets the test wait for it."""

    def __init__(self):
        self.texts = []
        self.calls = []
        self.died = []
        self.asked = []
        self._news = asyncio.Event()

    def text_chunk(self, session_id, chunk):
        self.texts.append(chunk)
        self._news.set()

    def tool_call(self, session_id, call):
        self.calls.append(call)
        self._news.set()

    def session_died(self, session_id):
        self.died.append(session_id)
        self._news.set()

    async def until(self, condition):
        while not condition():
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), LIMIT_S)

    async def decide(self, request):
        self.asked.append(request)
        self._news.set()
        return "yes"


@asynccontextmanager
async def bridged(*traits, idle_s=60.0, words=None, environment=os.environ, **limits):
    bridge = open_chat_bridge(
        command=words or command(*traits),
        environment=environment,
        idle_s=idle_s,
        limits=Limits(**{"first_backoff_s": 0.01, "max_backoff_s": 0.02} | limits),
    )
    heard = Heard()
    bridge.subscribe(heard)
    try:
        yield bridge, heard
    finally:
        await bridge.close()


def steps(*told):
    return json.dumps(told)


def on(path, test, *traits, **facts):
    """Run a test's coroutine with a bridge and a session in this folder."""

    async def run():
        async with bridged(*traits, **facts) as (bridge, heard):
            session = await bridge.new_session(str(path))
            await asyncio.wait_for(test(bridge, heard, session), 2 * LIMIT_S)

    asyncio.run(run())
