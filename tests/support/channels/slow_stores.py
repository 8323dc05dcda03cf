"""Stores that take a moment for each answer, so that a process can end before and after it."""

import asyncio

from channels.volatile import VolatileLedger, VolatileOutbox


class SlowLedger(VolatileLedger):
    async def begin(self, turn):
        await asyncio.sleep(0)
        await super().begin(turn)
        await asyncio.sleep(0)

    async def start_delivery(self, turn_id):
        await asyncio.sleep(0)
        await super().start_delivery(turn_id)
        await asyncio.sleep(0)

    async def end(self, turn, terminal, *, reason=None):
        await asyncio.sleep(0)
        is_first = await super().end(turn, terminal, reason=reason)
        await asyncio.sleep(0)
        return is_first


class SlowOutbox(VolatileOutbox):
    """Parts are stored one by one."""

    async def add(self, parts):
        for part in parts:
            await asyncio.sleep(0)
            await super().add([part])

    async def mark_sending(self, key):
        await asyncio.sleep(0)
        before = await super().mark_sending(key)
        await asyncio.sleep(0)
        return before

    async def mark_sent(self, key, provider_id):
        await asyncio.sleep(0)
        await super().mark_sent(key, provider_id)
        await asyncio.sleep(0)


class HeldLedger(VolatileLedger):
    """Notes the end of a turn once the test lets it."""

    def __init__(self):
        super().__init__()
        self.gate = asyncio.Event()

    async def end(self, turn, terminal, *, reason=None):
        await self.gate.wait()
        return await super().end(turn, terminal, reason=reason)


class GatedLedger(VolatileLedger):
    """Notes the beginning of a turn once the test lets it, and remembers how turns ended."""

    def __init__(self):
        super().__init__()
        self.gate = asyncio.Event()
        self.ended = []

    async def begin(self, turn):
        await self.gate.wait()
        await super().begin(turn)

    async def end(self, turn, terminal, *, reason=None):
        self.ended.append((terminal, turn.receipts))
        return await super().end(turn, terminal, reason=reason)
