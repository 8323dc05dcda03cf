"""Answers in blocks: design page "Channel layer", 2.9."""

import asyncio

import pytest

from channels.config import BlockStreaming
from channels.streamer import BlockStreamer
from tests.support.channels.scene import HandTimers, settle


def streamer(limits=None, *, fails_at=None):
    sent: list[str] = []
    timers = HandTimers()

    async def send(block):
        if len(sent) == fails_at:
            raise ValueError(block)
        await asyncio.sleep(0)
        sent.append(block)

    return BlockStreamer(limits or BlockStreaming(5, 10, 100), send=send, timers=timers), sent, timers


async def ended(stream, sent):
    """All blocks, those that are left at the end among them."""
    left = await stream.remaining()
    return [*sent, *left]


async def test_blocks_are_sent_in_order_and_the_rest_at_the_end():
    stream, sent, _ = streamer()
    stream.push("one\n\ntwo two two\n\nrest")
    await settle()
    assert sent == ["one", "two two"]

    assert await stream.remaining() == ("two\n\nrest",)


async def test_what_stands_still_is_sent_after_a_pause_if_it_is_long_enough():
    stream, sent, timers = streamer()
    stream.push("abcd")
    timers.pass_ms(100)
    await settle()
    assert sent == []
    stream.push("efg")
    timers.pass_ms(99)
    await settle()
    assert sent == []
    timers.pass_ms(1)
    await settle()

    assert sent == ["abcdefg"]


async def test_without_a_pause_nothing_is_sent_by_time():
    stream, sent, timers = streamer(BlockStreaming(1, 100, 0))
    stream.push("abcdefg")
    timers.pass_ms(100_000)
    await settle()

    assert sent == []


async def test_blank_blocks_are_not_sent():
    stream, sent, _ = streamer()
    stream.push("\n\n  \n\n      \n\n")

    assert await ended(stream, sent) == []


async def test_after_stop_nothing_more_is_sent():
    stream, sent, timers = streamer()
    stream.push("abc")
    stream.stop()
    stream.push("def\n\nghijklmnop")
    timers.pass_ms(1000)

    assert await ended(stream, sent) == []


async def test_the_first_error_is_raised_at_the_end_and_nothing_is_sent_after_it():
    stream, sent, _ = streamer(fails_at=1)
    stream.push("one one\n\ntwo two\n\nthree")
    await settle()
    with pytest.raises(ValueError, match="two two"):
        await stream.remaining()

    assert sent == ["one one"]


async def test_a_long_line_is_cut_to_blocks():
    stream, sent, _ = streamer()
    stream.push("x" * 35)

    assert await ended(stream, sent) == ["x" * 10, "x" * 10, "x" * 10, "x" * 5]


async def test_blocks_that_were_not_begun_are_given_out_and_not_sent_at_the_end():
    stream, sent, _ = streamer(BlockStreaming(1, 4, 0))
    stream.push("aaaabbbbcccc")
    await asyncio.sleep(0)

    assert await stream.remaining() == ("bbbb", "cccc")
    assert sent == ["aaaa"]
