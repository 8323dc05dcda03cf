import asyncio

from acp_bridge.lifeline import Lifeline
from acp_bridge.limits import Limits
from core.clock import boot_ms

LIMITS = Limits(guard_ms=1_000)


def test_a_leased_call_begins_and_ends_with_the_guards_own_time():
    told: list[int] = []
    lifeline = Lifeline(LIMITS, tell=told.append)
    before_ms = boot_ms()

    with lifeline.leased():
        assert len(told) == 1

    assert len(told) == 2
    assert all(before_ms + 1_000 <= deadline_ms <= boot_ms() + 1_000 for deadline_ms in told)


def test_a_second_leased_call_at_once_brings_no_time_of_its_own():
    told: list[int] = []
    lifeline = Lifeline(LIMITS, tell=told.append)

    with lifeline.leased():
        with lifeline.leased():
            lifeline.extend_to(5)
        assert told[1:] == [5]
        lifeline.extend_to(6)
        assert told[1:] == [5, 6]


def test_outside_leased_calls_nobody_else_has_a_say():
    told: list[int] = []
    lifeline = Lifeline(LIMITS, tell=told.append)

    lifeline.extend_to(5)

    assert told == []


def test_it_is_held_until_the_end_and_not_during_leased_calls():
    told: list[int] = []

    def tell(deadline_ms: int) -> None:
        told.append(deadline_ms)
        if len(told) == 3:
            told_thrice.set()

    async def live() -> None:
        ending: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lifeline = Lifeline(Limits(guard_ms=40), tell=tell)
        holding = asyncio.create_task(lifeline.hold(ending))
        await told_thrice.wait()
        with lifeline.leased():
            count = len(told)
            await asyncio.wait({holding}, timeout=0.05)
            assert len(told) == count
        ending.set_result(None)
        await holding

    told_thrice = asyncio.Event()
    asyncio.run(live())
