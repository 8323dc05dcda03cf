"""Lets a test wait for what it can see, without looking again and again."""

import asyncio

LIMIT_S = 20


class Facts:
    """Woken by all that changes something."""

    def __init__(self):
        self._news = asyncio.Event()

    def changed(self):
        self._news.set()

    async def until(self, condition):
        """Wait until a condition holds, and return what it gave."""
        async with asyncio.timeout(LIMIT_S):
            while not (found := condition()):
                self._news.clear()
                await self._news.wait()
        return found
