"""Messages that a chat service refuses."""

import asyncio

import pytest

from channels.delivering import REPEAT_NOTE
from channels.drafts import LONGEST_WAIT_MS, MAX_WAITS, MIN_UNITS, Draft, NotTaken, halves, send_until_taken
from channels.errors import DeliveryFailed
from tests.support.channels.scene import HandTimers, settle

DRAFT = Draft("7", "hello")


class Service:
    """Refuses as often as it is told, then takes what comes."""

    def __init__(self, *refusals):
        self.refusals = list(refusals)
        self.tried = []

    async def post(self, draft):
        self.tried.append(draft.text)
        if self.refusals:
            raise self.refusals.pop(0)
        return f"id of {draft.text}"


async def sent(service, *waits_ms, draft=DRAFT):
    """Let a message be sent while time passes in these steps."""
    timers = HandTimers()
    task = asyncio.create_task(send_until_taken(draft, service.post, timers))
    for wait_ms in waits_ms:
        await settle()
        tries = len(service.tried)
        timers.pass_ms(wait_ms - 1)
        await settle()
        assert len(service.tried) == tries
        timers.pass_ms(1)
    return await task


async def test_what_is_taken_is_sent_once():
    service = Service()

    assert await sent(service) == "id of hello"
    assert service.tried == ["hello"]


async def test_pauses_grow():
    service = Service(*[NotTaken("busy")] * 3)
    await sent(service, 1_000, 2_000, 4_000)

    assert service.tried == ["hello"] * 4


async def test_as_long_as_the_service_asks_for_is_waited():
    await sent(Service(NotTaken("busy", retry_after_s=7.5)), 7_500)


async def test_what_may_have_arrived_says_so_once():
    service = Service(*[NotTaken("no answer", is_unsure=True)] * 2)
    await sent(service, 1_000, 2_000)

    assert service.tried == ["hello", *[f"{REPEAT_NOTE}\n\nhello"] * 2]


async def test_other_forms_are_sent_at_once_and_in_their_order():
    service = Service(NotTaken("too long", instead=(Draft("7", "a"), Draft("7", "b"))))

    assert await sent(service) == "id of a"
    assert service.tried == ["hello", "a", "b"]


async def test_what_does_not_pass_is_not_tried_again():
    service = Service(NotTaken("no such chat", may_pass=False))
    with pytest.raises(DeliveryFailed, match="no such chat"):
        await sent(service)

    assert service.tried == ["hello"]


async def test_a_wait_that_is_too_long_is_told_to_who_sends():
    retry_after_s = LONGEST_WAIT_MS / 1000 + 1
    with pytest.raises(DeliveryFailed) as failed:
        await sent(Service(NotTaken("busy", retry_after_s=retry_after_s)))

    assert failed.value.retry_after_s == retry_after_s


async def test_a_message_is_not_put_off_for_ever():
    service = Service(*[NotTaken("busy")] * (MAX_WAITS + 1))
    with pytest.raises(DeliveryFailed, match="busy"):
        await sent(service, *[1_000 << waits for waits in range(MAX_WAITS)])

    assert len(service.tried) == MAX_WAITS + 1


@pytest.mark.parametrize("text", ["x" * MIN_UNITS, "hello"])
def test_what_is_as_short_as_can_be_has_no_halves(text):
    assert halves(Draft("7", text)) == ()
